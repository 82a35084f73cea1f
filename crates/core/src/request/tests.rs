//! What requests come to.

use super::*;
use crate::error::{Side, Tensor};

#[test]
fn norms_follow_numpy() {
    let scale = |norm, direction| {
        Fft::new([8, 2]).batch(3).direction(direction).norm(norm).scale(2.0).build().unwrap().scale
    };
    use Direction::{Forward, Inverse};
    assert_eq!(scale(Norm::Backward, Forward), 2.0);
    assert_eq!(scale(Norm::Backward, Inverse), 2.0 / 16.0);
    assert_eq!(scale(Norm::Ortho, Forward), 0.5);
    assert_eq!(scale(Norm::Ortho, Inverse), 0.5);
    assert_eq!(scale(Norm::Forward, Forward), 2.0 / 16.0);
    assert_eq!(scale(Norm::Forward, Inverse), 2.0);
}

#[test]
fn the_same_in_other_words_is_equal() {
    let packed = Fft::new([5, 7]).batch(2).batch(3).build();
    assert_eq!(packed, Fft::axes([6, 5, 7], [-1, 1]).build());
    assert_eq!(packed, Fft::new([5, 7]).batch_strided(6, 35, 35).build());
    assert_eq!(packed, Fft::new([5, 7]).strides(&[7, 1], &[7, 1]).batch(6).build());
    let guru = [Dim::new(7, 1, 1), Dim::new(1, -9, 0), Dim::new(5, 7, 7)];
    assert_eq!(packed, Fft::guru(&guru, &[Dim::new(2, 105, 105), Dim::new(3, 35, 35)]).build());
    // The batch from its other end.
    let backwards = Fft::new([5, 7]).batch_strided(6, -35, -35).offsets(175, 175).build();
    assert_eq!(packed, backwards);
}

#[test]
fn refuses_axes_and_strides_that_do_not_fit() {
    let axes = |axes: &[i64]| Fft::axes([2, 3, 4], axes).build().unwrap_err();
    assert_eq!(axes(&[3]), Error::AxisOutOfRange { axis: 3, rank: 3 });
    assert_eq!(axes(&[i64::MIN]), Error::AxisOutOfRange { axis: i64::MIN, rank: 3 });
    assert_eq!(axes(&[0, -3]), Error::AxisRepeated { axis: 0 });
    assert!(axes(&[-4]).to_string().ends_with("valid are -3 to 2"));
    assert_eq!(
        Fft::new([2, 3]).strides(&[3, 1], &[1]).build().unwrap_err(),
        Error::StrideCount { side: Side::Output, expected: 2, got: 1 }
    );
}

#[test]
fn refuses_what_overflows_or_is_empty() {
    let huge = |fft: Fft| assert!(matches!(fft.build(), Err(Error::TooManyElements { .. })));
    huge(Fft::new([1 << 40, 1 << 40]));
    huge(Fft::new([1 << 40, 1 << 40, 1 << 40]));
    huge(Fft::new([u64::MAX]));
    huge(Fft::new([4]).batch(u64::MAX).batch(2));
    huge(Fft::new([1 << 30]).batch(1 << 30));
    assert_eq!(
        Fft::new([4, 0]).build().unwrap_err(),
        Error::EmptyDimension { tensor: Tensor::Transform, axis: 1 }
    );
    assert_eq!(
        Fft::new([4]).batch(0).build().unwrap_err(),
        Error::EmptyDimension { tensor: Tensor::Batch, axis: 0 }
    );
    assert!(matches!(Fft::new([4]).scale(f64::NAN).build(), Err(Error::Scale { .. })));
}

#[test]
fn real_requests_are_packed_on_both_sides() {
    use crate::problem::{Dim, Kind, RealKind};
    let problem = Fft::new([6, 10]).batch(3).r2c().build().unwrap();
    assert_eq!(problem.kind, Kind::RealToComplex(Dim::new(10, 1, 1)));
    assert_eq!(problem.transform, [Dim::new(6, 10, 6)]);
    assert_eq!(problem.batch, [Dim::new(3, 60, 36)]);
    assert_eq!((problem.input_bytes(), problem.output_bytes()), (4 * 180, 8 * 108));
    let back = Fft::new([6, 10]).batch(3).c2r().norm(Norm::Backward).build().unwrap();
    assert_eq!(back.kind, Kind::ComplexToReal(Dim::new(10, 1, 1)));
    assert_eq!((back.transform[0], back.scale), (Dim::new(6, 6, 10), 1.0 / 60.0));
    let columns = Fft::axes([9, 4], [0]).r2c().build().unwrap();
    assert_eq!(columns.kind, Kind::RealToComplex(Dim::new(9, 4, 4)));
    assert_eq!(columns.output_span(), 0..20);
    let first = Fft::new([6, 10]).r2c().halved_axis(0).build().unwrap();
    assert_eq!(first.output_span(), 0..40);
    assert_eq!(first.kind, Kind::RealToComplex(Dim::new(6, 10, 10)));
    let kinds = Fft::axes([4, 5, 6], [2, 0]).r2r([RealKind::Dct2, RealKind::Dst1]).build().unwrap();
    let Kind::RealToReal(dims) = kinds.kind else { panic!("{:?}", kinds.kind) };
    assert_eq!(
        dims.iter().map(|real| (real.dim.n, real.kind)).collect::<Vec<_>>(),
        [(4, RealKind::Dst1), (6, RealKind::Dct2)]
    );
}

#[test]
fn in_place_rows_of_reals_are_padded() {
    use crate::problem::{Dim, Format, Kind, RealKind};
    for n in [9, 10] {
        let problem = Fft::new([4, n]).batch(2).r2c().in_place().build().unwrap();
        assert_eq!(problem.kind, Kind::RealToComplex(Dim::new(n, 1, 1)));
        assert_eq!(problem.transform, [Dim::new(4, 2 * (n as i64 / 2 + 1), n as i64 / 2 + 1)]);
        let back = Fft::new([4, n]).batch(2).c2r().in_place().build().unwrap();
        assert_eq!(back.transform, [Dim::new(4, n as i64 / 2 + 1, 2 * (n as i64 / 2 + 1))]);
    }
    let refused = |fft: Fft| fft.build().unwrap_err();
    let tight = refused(Fft::new([4, 10]).r2c().in_place().strides(&[10, 1], &[6, 1]));
    assert!(matches!(tight, Error::InPlaceReals { uneven: Some((10, 6)), .. }), "{tight}");
    assert!(tight.to_string().contains("pad the rows to 12 reals"), "{tight}");
    let planar = Fft::new([10]).r2c().in_place().formats(Format::Real, Format::Planar);
    assert!(matches!(refused(planar), Error::InPlaceReals { format: Format::Planar, .. }));
    let close = refused(Fft::new([4, 10]).c2r().in_place().strides(&[5, 1], &[10, 1]));
    assert!(matches!(close, Error::InPlaceReals { uneven: Some((10, 5)), .. }), "{close}");
    let columns = refused(Fft::axes([10, 4], [0]).r2c().in_place());
    assert!(matches!(columns, Error::InPlaceReals { .. }), "{columns}");
    assert!(Fft::new([4, 5]).r2r([RealKind::Dct2]).in_place().build().is_ok());
}

#[test]
fn refuses_what_a_kind_cannot_have() {
    use crate::problem::{Format, RealKind};
    let refused = |fft: Fft| fft.build().unwrap_err();
    let short = refused(Fft::new([4, 1]).r2r([RealKind::Dct1]));
    assert_eq!(short, Error::KindLength { kind: "dct1", n: 1, least: 2 });
    let count = refused(Fft::new([4, 1, 2]).r2r([RealKind::Dct2, RealKind::Dct2]));
    assert_eq!(count, Error::KindCount { expected: 3, got: 2 });
    let complex = refused(Fft::new([4]).r2c().formats(Format::Interleaved, Format::Interleaved));
    assert_eq!(complex, Error::KindFormat { side: Side::Input, real: true, got: Format::Interleaved });
    let real = refused(Fft::new([4]).formats(Format::Real, Format::Interleaved));
    assert_eq!(real, Error::KindFormat { side: Side::Input, real: false, got: Format::Real });
    assert_eq!(refused(Fft::axes([4], []).r2c()), Error::NoHalvedAxis);
    assert_eq!(refused(Fft::axes([4, 5], [1]).r2c().halved_axis(0)), Error::NoHalvedAxis);
}

#[test]
fn norms_of_real_kinds_count_their_periods() {
    use crate::problem::RealKind::{Dct1, Dct2, Dst1};
    let scale = |kinds: &[_], norm| Fft::new([8, 5]).r2r(kinds).norm(norm).build().unwrap().scale;
    assert_eq!(scale(&[Dct1, Dst1], Norm::Forward), 1.0 / (14.0 * 12.0));
    assert_eq!(scale(&[Dct2], Norm::Ortho), 1.0 / (16.0_f64 * 10.0).sqrt());
    assert_eq!(scale(&[Dct2], Norm::Backward), 1.0);
}
