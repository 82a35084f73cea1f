//! The simulator as a device: it runs any device's kernels on the processor, checks every access, and counts.

use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::{cast_slice, pod_collect_to_vec};
use warpfft_core::kernel::simulate::{GlobalBuffer, Memory, Report, simulate};
use warpfft_core::kernel::{Access, Kernel, Type};
use warpfft_core::problem::{Placement, Problem};
use warpfft_core::program::{Binding, Launch, Program};
use warpfft_core::recipe::Recipe;
use warpfft_core::target::Limits;

use super::backend::{Backend, Execute, HostJob, Part, compiled};
use super::{DeviceKind, DeviceReport, check};
use crate::error::Error;
use crate::measure::{Measurement, Timing};
use crate::plan::Plan;
use crate::span;

struct Sim {
    name: String,
    limits: Limits,
}

pub(super) fn open(limits: Limits) -> Arc<dyn Backend> {
    Arc::new(Sim { name: format!("simulated {}", limits.name), limits })
}

pub(super) fn report() -> DeviceReport {
    let presets: Vec<String> = Limits::presets().into_iter().map(|limits| limits.name).collect();
    DeviceReport {
        kind: DeviceKind::Sim,
        name: "simulator".into(),
        limits: None,
        usable: Ok(()),
        detail: format!("runs and checks kernels for the limits of any device: {}", presets.join(", ")),
    }
}

impl Backend for Sim {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Sim
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn limits(&self) -> Option<&Limits> {
        Some(&self.limits)
    }

    fn is_hardware(&self) -> bool {
        false
    }

    fn load(&self, program: Program) -> Result<Arc<dyn Execute>, Error> {
        check::program(&program, &self.limits)?;
        Ok(Arc::new(SimWork { limits: self.limits.clone(), program, last: Mutex::default() }))
    }

    fn plan(&self, problem: &Problem, recipe: Option<&Recipe>) -> Result<Arc<dyn Execute>, Error> {
        self.load(compiled(problem, &self.limits, recipe)?)
    }
}

struct SimWork {
    limits: Limits,
    program: Program,
    last: Mutex<Option<Vec<Report>>>,
}

impl Plan {
    /// What each launch of the last run cost, as the simulator counted it; `None` before the first run.
    ///
    /// # Errors
    ///
    /// The plan is for another device.
    pub fn simulated_counts(&self) -> Result<Option<Vec<Report>>, Error> {
        let work = self.work_as::<SimWork>(DeviceKind::Sim)?;
        Ok(work.last.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

/// An array of the simulated device: bytes, and which of them hold something.
#[derive(Default)]
struct Array {
    bytes: Vec<u8>,
    written: Vec<bool>,
}

impl Array {
    fn filled(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), written: vec![true; bytes.len()] }
    }

    fn empty(bytes: usize) -> Self {
        Self { bytes: vec![0; bytes], written: vec![false; bytes] }
    }
}

/// All arrays of one run.
struct Arrays {
    input: [Array; 2],
    output: [Array; 2],
    filter: Array,
    workspace: Array,
    tables: Vec<Array>,
}

impl Arrays {
    /// The array of a binding, and the byte at which the binding starts.
    fn of(&mut self, binding: Binding) -> (&mut Array, usize) {
        match binding {
            Binding::Input(plane) => (&mut self.input[usize::from(plane)], 0),
            Binding::Output(plane) => (&mut self.output[usize::from(plane)], 0),
            Binding::Workspace { offset, .. } => (&mut self.workspace, offset as usize),
            Binding::Filter => (&mut self.filter, 0),
            Binding::Table(table) => (&mut self.tables[usize::from(table)], 0),
        }
    }
}

impl SimWork {
    fn launch(&self, launch: &Launch, part: Option<&Part>, arrays: &mut Arrays) -> Result<Report, Error> {
        let kernel = &*self.program.kernels[launch.kernel];
        let part = match part {
            Some(part) => Some(self.of_part(kernel, launch, part)?),
            None => None,
        };
        let kernel = part.as_ref().unwrap_or(kernel);
        let mut buffers = Vec::with_capacity(launch.bindings.len());
        for (buffer, &binding) in kernel.buffers.iter().zip(&launch.bindings) {
            let (array, start) = arrays.of(binding);
            let range = start..start + (buffer.len * u64::from(buffer.elem.bytes())) as usize;
            let data = memory(buffer.elem, &array.bytes[range.clone()]).ok_or_else(|| Error::Program {
                detail: format!("buffer {} of kernel {} cannot be stored", buffer.name, kernel.name),
            })?;
            let elements = array.written[range].chunks_exact(buffer.elem.bytes() as usize);
            buffers.push(GlobalBuffer {
                data,
                written: elements.map(|bytes| bytes[0]).collect(),
                pages: None,
            });
        }
        let mut places: Vec<&mut GlobalBuffer> = buffers.iter_mut().collect();
        let result = simulate(kernel, &self.limits, &mut places);
        let report =
            result.map_err(|fault| Error::Fault { kernel: kernel.name.clone(), fault: fault.to_string() });
        write_back(kernel, launch, &buffers, arrays);
        report
    }
}

impl SimWork {
    /// The kernel of a launch as a part of its problem runs it: nothing beyond what that part spans is there.
    fn of_part(&self, kernel: &Kernel, launch: &Launch, part: &Part) -> Result<Kernel, Error> {
        let mut kernel = kernel.at_count(part.count);
        let (read, written) = (span::read_bytes(&part.problem)?, span::written_bytes(&part.problem)?);
        for (buffer, &binding) in kernel.buffers.iter_mut().zip(&launch.bindings) {
            let bytes = match binding {
                Binding::Input(plane) => read[usize::from(plane)],
                Binding::Output(plane) => written[usize::from(plane)],
                Binding::Workspace { .. } | Binding::Table(_) | Binding::Filter => continue,
            };
            buffer.len = buffer.len.min(bytes / u64::from(buffer.elem.bytes()));
        }
        Ok(kernel)
    }
}

/// Puts what a launch wrote where the next one finds it.
fn write_back(kernel: &Kernel, launch: &Launch, buffers: &[GlobalBuffer], arrays: &mut Arrays) {
    for ((buffer, &binding), content) in kernel.buffers.iter().zip(&launch.bindings).zip(buffers) {
        if buffer.access == Access::Read {
            continue;
        }
        let bytes = bytes(&content.data);
        let size = buffer.elem.bytes() as usize;
        let (array, start) = arrays.of(binding);
        array.bytes[start..start + bytes.len()].copy_from_slice(&bytes);
        for (at, &written) in content.written.iter().enumerate() {
            array.written[start + at * size..start + (at + 1) * size].fill(written);
        }
    }
}

/// Bytes as elements; `None` for types that are never stored.
fn memory(elem: Type, bytes: &[u8]) -> Option<Memory> {
    let halves = |bytes| pod_collect_to_vec::<u8, u16>(bytes).into_iter();
    Some(match elem {
        Type::F32 => Memory::F32(pod_collect_to_vec(bytes)),
        Type::F64 => Memory::F64(pod_collect_to_vec(bytes)),
        Type::F16 => Memory::F16(halves(bytes).map(half::f16::from_bits).collect()),
        Type::Bf16 => Memory::Bf16(halves(bytes).map(half::bf16::from_bits).collect()),
        Type::U32 => Memory::U32(pod_collect_to_vec(bytes)),
        Type::U64 => Memory::U64(pod_collect_to_vec(bytes)),
        Type::I32 => Memory::I32(pod_collect_to_vec(bytes)),
        Type::Bool | Type::Ptr(_) => return None,
    })
}

fn bytes(memory: &Memory) -> Vec<u8> {
    match memory {
        Memory::F32(data) => cast_slice(data).to_vec(),
        Memory::F64(data) => cast_slice(data).to_vec(),
        Memory::F16(data) => data.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Memory::Bf16(data) => data.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Memory::U32(data) => cast_slice(data).to_vec(),
        Memory::U64(data) => cast_slice(data).to_vec(),
        Memory::I32(data) => cast_slice(data).to_vec(),
    }
}

impl Execute for SimWork {
    fn measure(&self, _timing: Timing) -> Result<Measurement, Error> {
        Err(Error::Unsupported {
            device: "the simulator".into(),
            what: "time kernels".into(),
            would_work: "look at what it counts, or measure on a real device".into(),
        })
    }

    fn program(&self) -> Option<&Program> {
        Some(&self.program)
    }

    fn workspace_bytes(&self) -> u64 {
        self.program.workspace_bytes
    }

    fn run(&self, job: HostJob<'_>) -> Result<(), Error> {
        let [first, second] = job.output;
        let in_place = self.program.problem.placement == Placement::InPlace;
        let target = |host: &[u8]| if in_place { Array::filled(host) } else { Array::empty(host.len()) };
        let mut arrays = Arrays {
            input: job.input.map_or_else(Default::default, |planes| planes.map(Array::filled)),
            output: [target(first), target(second)],
            filter: Array::filled(job.filter),
            workspace: Array::empty(self.program.workspace_bytes as usize),
            tables: self
                .program
                .tables
                .iter()
                .map(|table| Ok(Array::filled(check::table_bytes(table)?)))
                .collect::<Result<_, Error>>()?,
        };
        let launches = self.program.launches.iter();
        let counts =
            launches.map(|launch| self.launch(launch, job.part, &mut arrays)).collect::<Result<_, _>>()?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(counts);
        for (host, array) in [first, second].into_iter().zip(&arrays.output) {
            for ((host, &byte), &written) in host.iter_mut().zip(&array.bytes).zip(&array.written) {
                if written {
                    *host = byte;
                }
            }
        }
        Ok(())
    }
}
