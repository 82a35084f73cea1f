//! How arrays are declared: by the width that all accesses to each share.

use super::halves::{is_half, is_native};
use super::name;
use crate::emit::shared::{each_inst, put};
use crate::kernel::{Access, Kernel, Op, Space, Type};

/// Elements of one declared array element, for each array: 1, 2 or 4.
pub(super) struct Layout {
    buffers: Vec<u8>,
    shared: Vec<u8>,
    /// f16 is a type, and not bits in words.
    native: bool,
}

impl Layout {
    /// The least width of all accesses to an array; arrays that nothing touches are of scalars.
    pub fn new(kernel: &Kernel) -> Self {
        let mut buffers = vec![u8::MAX; kernel.buffers.len()];
        let mut shared = vec![u8::MAX; kernel.shared.len()];
        each_inst(&kernel.body, &mut |inst| {
            let (Op::Load { width, .. } | Op::Store { width, .. }) = inst.op else { return };
            let least = match kernel.ty(inst.args[0]) {
                Type::Ptr(Space::Global(i)) => &mut buffers[i as usize],
                Type::Ptr(Space::Shared(i) | Space::Remote(i)) => &mut shared[i as usize],
                _ => return,
            };
            *least = (*least).min(width);
        });
        let native = is_native(kernel);
        let elems = kernel.buffers.iter().map(|b| b.elem).chain(kernel.shared.iter().map(|s| s.elem));
        for (width, elem) in buffers.iter_mut().chain(&mut shared).zip(elems) {
            // A word holds two at least.
            let least = if is_half(elem) && !(native && elem == Type::F16) { 2 } else { 1 };
            *width = if *width == u8::MAX { least } else { (*width).max(least) };
        }
        Self { buffers, shared, native }
    }

    /// Whether f16 is a type of the kernel's, and not bits in words.
    pub fn native(&self) -> bool {
        self.native
    }

    /// Elements of one declared element of an array.
    pub fn width(&self, space: Space) -> u8 {
        match space {
            Space::Global(i) => self.buffers[i as usize],
            Space::Shared(i) | Space::Remote(i) => self.shared[i as usize],
        }
    }

    /// The type of a declared element.
    fn element(&self, elem: Type, width: u8, text: &mut String) {
        match (is_half(elem) && !(self.native && elem == Type::F16), width) {
            (true, 4) => text.push_str("vec2<u32>"),
            (true, _) => text.push_str("u32"),
            (false, _) => element(elem, width, text),
        }
    }

    /// The declarations of all arrays.
    pub fn declare(&self, kernel: &Kernel, text: &mut String) {
        for (i, (buffer, &width)) in kernel.buffers.iter().zip(&self.buffers).enumerate() {
            let access = if buffer.access == Access::Read { "read" } else { "read_write" };
            put!(text, "@group(0) @binding({i}) var<storage, {access}> ");
            array_name(kernel, Space::Global(i as u16), text);
            text.push_str(": array<");
            self.element(buffer.elem, width, text);
            text.push_str(">;\n");
        }
        for (i, (array, &width)) in kernel.shared.iter().zip(&self.shared).enumerate() {
            text.push_str("var<workgroup> ");
            array_name(kernel, Space::Shared(i as u16), text);
            text.push_str(": array<");
            self.element(array.elem, width, text);
            put!(text, ", {}>;\n", array.len.div_ceil(u32::from(width)).max(1));
        }
    }
}

/// An array's name, with a prefix that keeps it apart from the words of the language.
pub(super) fn array_name(kernel: &Kernel, space: Space, text: &mut String) {
    match space {
        Space::Global(i) => put!(text, "g_{}", kernel.buffers[i as usize].name),
        Space::Shared(i) | Space::Remote(i) => put!(text, "s_{}", kernel.shared[i as usize].name),
    }
}

/// The type of `width` elements.
pub(super) fn element(elem: Type, width: u8, text: &mut String) {
    match width {
        1 => text.push_str(name(elem)),
        _ => put!(text, "vec{width}<{}>", name(elem)),
    }
}
