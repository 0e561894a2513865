use super::*;

const LINK: LinkFigures = LinkFigures {
    gigabytes_per_second: 100.0,
    hop_us: 0.0,
};

/// A vector of 64 KiB.
fn on(devices: usize) -> Problem {
    Problem {
        devices,
        size: 8192,
        bytes: 65_536.0,
    }
}

fn measured(devices: usize, step_us: f64, exchange_us: f64) -> Measured {
    Measured {
        problem: on(devices),
        step_us,
        exchange_us,
    }
}

fn strong(alone_us: f64, all: &[Measured], exchange: Exchange) -> Model {
    let one = measured(1, alone_us, 0.0);
    Model::fitted(Growth::Strong, &[&[one], all].concat(), (exchange, LINK))
}

fn is_near(actual: f64, expected: f64) {
    let difference = (actual - expected).abs();
    assert!(
        difference <= 1e-9 * expected.abs().max(1.0),
        "{actual} is not {expected}"
    );
}

#[test]
fn what_was_measured_is_predicted() {
    for exchange in [Exchange::Gather, Exchange::Peer] {
        let model = strong(110.0, &[measured(2, 67.0, 7.0)], exchange);
        is_near(model.fixed_us, 10.0);
        is_near(model.divided_us, 100.0);
        let step = model.step(on(2));
        is_near(step.us, 67.0);
        is_near(step.exchange_us, 7.0);
        is_near(model.step(on(1)).us, 110.0);
    }
}

/// Times that are a model's, on four numbers of devices, give that model.
#[test]
fn a_model_is_found_again_from_its_times() {
    for overlaps in [false, true] {
        let model = Model {
            growth: Growth::Strong,
            fixed_us: 10.0,
            divided_us: 100.0,
            latency_us: 3.0,
            latency_per_device_us: 0.5,
            link: LINK,
            overlaps,
        };
        let times = [2, 4, 8].map(|devices| {
            let step = model.step(on(devices));
            measured(devices, step.us, step.exchange_us)
        });
        let exchange = match overlaps {
            true => Exchange::Peer,
            false => Exchange::Gather,
        };
        let again = strong(110.0, &times, exchange);
        let of = |it: &Model| {
            [
                it.fixed_us,
                it.divided_us,
                it.latency_us,
                it.latency_per_device_us,
            ]
        };
        for (again, number) in of(&again).into_iter().zip(of(&model)) {
            is_near(again, number);
        }
    }
}

/// No number of devices alone decides: 2 % too much on 4 of them is spread over all.
#[test]
fn all_numbers_of_devices_count() {
    let clean = [measured(2, 60.0, 0.0), measured(4, 35.0, 0.0)];
    let noisy = [clean[0], measured(4, 35.0 * 1.02, 0.0)];
    let [clean, noisy] = [clean, noisy].map(|all| strong(110.0, &all, Exchange::Peer));
    is_near(clean.fixed_us, 10.0);
    let at = |model: &Model, devices| model.step(on(devices)).us / clean.step(on(devices)).us;
    assert!((1.0..1.02).contains(&at(&noisy, 4)), "{noisy:?}");
    assert!(at(&noisy, 2) != 1.0 && at(&noisy, 1) != 1.0, "{noisy:?}");
}

/// Two devices that take less than half of one's time: no part is below 0, and both times are met as nearly as one number can.
#[test]
fn no_part_of_a_model_is_negative() {
    let model = strong(184.8, &[measured(2, 90.4, 0.0)], Exchange::Peer);
    assert_eq!(model.fixed_us, 0.0);
    assert!((180.8..184.8).contains(&model.divided_us), "{model:?}");
    // More devices take longer.
    let model = strong(10.0, &[measured(2, 12.0, 0.0)], Exchange::Gather);
    assert_eq!(model.divided_us, 0.0);
    assert!((10.0..12.0).contains(&model.fixed_us), "{model:?}");
}

#[test]
fn latencies_of_one_or_two_numbers_of_devices_without_hops_are_a_mean_and_of_three_a_line() {
    // 64 KiB at 100 GB/s, as far as a device receives them.
    let exchange_us =
        |devices: usize, latency_us| 0.65536 * (1.0 - 1.0 / devices as f64) + latency_us;
    let at = |devices, latency_us| {
        let exchange_us = exchange_us(devices, latency_us);
        measured(devices, 110.0 + exchange_us, exchange_us)
    };
    let two = strong(110.0, &[at(2, 5.0), at(4, 7.0)], Exchange::Gather);
    is_near(two.latency_us, 6.0);
    assert_eq!(two.latency_per_device_us, 0.0);
    is_near(two.step(on(16)).exchange_us, exchange_us(16, 6.0));
    let three = strong(
        110.0,
        &[at(2, 5.0), at(4, 7.0), at(8, 11.0)],
        Exchange::Gather,
    );
    is_near(three.step(on(16)).exchange_us, exchange_us(16, 19.0));
}

/// A collective's numbers go from each device to the next, a kernel's to all at once.
#[test]
fn each_device_more_is_a_hop_of_a_collective() {
    let link = LinkFigures {
        hop_us: 0.75,
        ..LINK
    };
    let two = measured(2, 67.0, 7.0);
    let of = |exchange| {
        let model = Model::fitted(
            Growth::Strong,
            &[measured(1, 110.0, 0.0), two],
            (exchange, link),
        );
        is_near(model.step(on(2)).us, two.step_us);
        let latency = |devices| model.latency_us + model.latency_per_device_us * devices as f64;
        latency(8) - latency(2)
    };
    is_near(of(Exchange::Gather), 6.0 * 0.75);
    is_near(of(Exchange::Graph), 6.0 * 0.75);
    is_near(of(Exchange::Peer), 0.0);
    // An exchange that is hidden has hops all the same, and no time below 0.
    let hidden = [measured(1, 110.0, 0.0), measured(2, 60.0, 0.0)];
    let model = Model::fitted(Growth::Strong, &hidden, (Exchange::Gather, link));
    assert!(model.latency_us < 0.0);
    assert!(model.step(on(2)).exchange_us >= 0.0);
}

/// `power --scaling weak` of two H100, in an earlier call than that of docs/results/h100-x2.
#[test]
fn a_growing_problem_takes_each_device_as_long_and_exchanges_more() {
    let of = |devices: usize| {
        let size = (8192.0 * (devices as f64).sqrt()).round() as usize;
        Problem {
            devices,
            size,
            bytes: 8.0 * size as f64,
        }
    };
    let two = Measured {
        problem: of(2),
        step_us: 207.0106,
        exchange_us: 18.7639,
    };
    let model = Model::fitted(Growth::Weak, &[two], (Exchange::Gather, LINK));
    let step = model.step(of(2));
    is_near(step.us, two.step_us);
    is_near(step.exchange_us, two.exchange_us);
    let (four, sixteen) = (model.step(of(4)), model.step(of(16)));
    is_near(four.us - four.exchange_us, 207.0106 - 18.7639);
    is_near(sixteen.us - sixteen.exchange_us, 207.0106 - 18.7639);
    // 131,072 and 262,144 bytes, of which a device receives 3 and 15 parts.
    is_near(
        sixteen.exchange_us - four.exchange_us,
        (262_144.0 * 15.0 / 16.0 - 131_072.0 * 3.0 / 4.0) / 1e5,
    );
    assert_eq!(sixteen.limit, "the work of each device");
}

#[test]
fn the_limit_is_the_greatest_part() {
    let model = strong(110.0, &[measured(2, 67.0, 7.0)], Exchange::Gather);
    assert_eq!(model.step(on(4)).limit, "the work that the devices share");
    assert_eq!(
        model.step(on(16)).limit,
        "launches and the work that each device repeats"
    );
    let bytes = |bytes| Problem { bytes, ..on(16) };
    // 100 MB at 100 GB/s.
    assert_eq!(model.step(bytes(1e8)).limit, "the links' bandwidth");
    // They go while the numbers are computed, for as long as that takes.
    let model = Model {
        overlaps: true,
        ..model
    };
    is_near(
        model.step(bytes(1e6)).exchange_us - model.latency_us,
        9.375 - 6.25,
    );
}

#[test]
fn predicted_rows_are_rounded_as_measured_ones_are() {
    let row = DevicesRow {
        exchange: "gather".to_owned(),
        devices: 2,
        ..DevicesRow::alone("power", 8192, 67.0, "2 x NVIDIA H100".to_owned())
    };
    let model = strong(110.0, &[measured(2, 67.0, 7.0)], Exchange::Gather);
    let row = model.row(&row, on(3)).against(Some(110.0), Growth::Strong);
    let numbers = [
        Some(row.step_us),
        row.exchange_us,
        row.exchange_percent,
        row.speedup,
        row.efficiency,
    ];
    for number in numbers.map(|it| it.expect("a number")) {
        let digits = format!("{number}");
        let decimals = digits.split_once('.').map_or(0, |it| it.1.len());
        assert!(decimals <= 4, "{digits}");
    }
    assert_eq!((row.kind, row.checked), (Kind::Predicted, false));
    assert_eq!(row.device, "3 x NVIDIA H100, from 2 x NVIDIA H100");
}
