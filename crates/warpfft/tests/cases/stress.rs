//! Many launches in a row on a CUDA device.

use warpfft::{Complex, Plan};

/// Launches the plan many times in a row and panics where an output differs in a single bit from the first.
pub fn stress(plan: &Plan, rounds: usize, launches: usize, what: &str) {
    let context = plan.cuda_context().expect("it is a CUDA plan");
    let stream = context.stream().expect("a stream");
    let bytes = 8 * plan.output_elements();
    let buffer = || context.alloc(bytes).expect("memory");
    let (from, to) = (buffer(), buffer());
    let workspace = context.alloc(plan.workspace_bytes()).expect("memory");
    let data: Vec<Complex<f32>> = (0..plan.input_elements())
        .map(|i| Complex::new((i * 37 % 101) as f32 / 101.0 - 0.5, (i * 61 % 89) as f32 / 89.0 - 0.5))
        .collect();
    stream.upload(&from, bytemuck::cast_slice(&data)).expect("it uploads");
    let blank = vec![Complex::new(f32::NAN, f32::NAN); data.len()];
    let mut first: Option<Vec<Complex<f32>>> = None;
    for round in 0..rounds {
        stream.upload(&to, bytemuck::cast_slice(&blank)).expect("it uploads");
        for _ in 0..launches {
            // SAFETY: own stream and own memory of the spanned size, which outlives the download.
            let enqueued = unsafe {
                plan.enqueue_cuda(stream.raw(), [from.address(), 0], [to.address(), 0], workspace.address())
            };
            enqueued.expect("it is enqueued");
        }
        let mut output = blank.clone();
        stream.download(bytemuck::cast_slice_mut(&mut output), &to).expect("it downloads");
        let bits = |x: &Complex<f32>| (x.re.to_bits(), x.im.to_bits());
        match &first {
            None => {
                assert!(output.iter().all(|x| x.re.is_finite()), "{what}: something was not written");
                first = Some(output);
            }
            Some(first) => {
                let wrong = first.iter().zip(&output).position(|(a, b)| bits(a) != bits(b));
                assert_eq!(wrong, None, "{what}: round {round} differs at that element");
            }
        }
    }
}
