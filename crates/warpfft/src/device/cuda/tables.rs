//! Constant tables on the device.

use std::sync::{Arc, PoisonError, Weak};

use super::context::Context;
use super::memory::DeviceBuffer;
use crate::device::hash::hash;
use crate::error::Error;

/// Tables on the device; equal ones of several plans are there once.
pub(super) fn tables(context: &Arc<Context>, contents: &[&[u8]]) -> Result<Vec<Arc<DeviceBuffer>>, Error> {
    let keys: Vec<u128> = contents.iter().map(|content| hash(content)).collect();
    let known = || context.tables.lock().unwrap_or_else(PoisonError::into_inner);
    let mut there: Vec<Option<Arc<DeviceBuffer>>> = {
        let known = known();
        keys.iter().map(|key| known.get(key).and_then(Weak::upgrade)).collect()
    };
    let mut made = Vec::new();
    for (at, content) in contents.iter().enumerate().filter(|&(at, _)| there[at].is_none()) {
        made.push((at, Arc::new(context.alloc(content.len() as u64)?), *content));
    }
    if made.is_empty() {
        return Ok(there.into_iter().flatten().collect());
    }
    let pairs: Vec<_> = made.iter().map(|(_, buffer, content)| (&**buffer, *content)).collect();
    // Complete before another plan may find them, and before any launch on another stream reads them.
    context.upload_all(&pairs)?;
    let mut known = known();
    known.retain(|_, table| table.strong_count() > 0);
    for (at, buffer, _) in made {
        known.insert(keys[at], Arc::downgrade(&buffer));
        there[at] = Some(buffer);
    }
    Ok(there.into_iter().flatten().collect())
}
