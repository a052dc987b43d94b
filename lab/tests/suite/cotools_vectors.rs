//! The golden values of CoTools: computed in f64 by automatic differentiation from the equations,
//! with PyTorch's rules for AdamW and clipping.

use std::fs;

use serde_json::Value;
use toolyard::papers::cotools::{Judge, Matrix, Mlp, Real, Retriever, rank_of, ranking, scores};
use toolyard_lab::training::adamw::AdamW;
use toolyard_lab::training::clip::clip;
use toolyard_lab::training::contrastive::{contrastive_loss, tools_of_batch};
use toolyard_lab::training::judge_loss::judge_loss;
use toolyard_lab::training::{
    Example, Figures, Schedule, above_mean, examples, judge_labels, published_examples,
    published_judge_labels, scores_on, weight_z_scores,
};

/// A file of golden values.
fn vectors(name: &str) -> Value {
    serde_json::from_str(
        &fs::read_to_string(crate::root().join("tests/data/vectors/cotools").join(name)).unwrap(),
    )
    .unwrap()
}

fn list<R: Real>(value: &Value) -> Vec<R> {
    value.as_array().unwrap().iter().map(|x| R::of(x.as_f64().unwrap())).collect()
}

fn indexes(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|x| x.as_u64().unwrap() as usize).collect()
}

fn names(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|x| x.as_str().unwrap()).collect()
}

fn matrix<R: Real>(value: &Value) -> Matrix<R> {
    let rows: Vec<Vec<R>> = value.as_array().unwrap().iter().map(list).collect();
    Matrix::of_rows(&rows).unwrap()
}

fn mlp<R: Real>(value: &Value) -> Mlp<R> {
    Mlp::new(matrix(&value["gate"]), matrix(&value["up"]), matrix(&value["down"])).unwrap()
}

#[track_caller]
fn near<R: Real>(found: &[R], right: &[f64], tolerance: f64) {
    assert_eq!(found.len(), right.len());
    for (i, (found, right)) in found.iter().zip(right).enumerate() {
        let found = found.to_f64();
        assert!((found - right).abs() <= tolerance, "at {i}: {found}, not {right}");
    }
}

#[track_caller]
fn near_mlp<R: Real>(found: &Mlp<R>, right: &Value, tolerance: f64) {
    let right = mlp::<f64>(right);
    near(found.gate().data(), right.gate().data(), tolerance);
    near(found.up().data(), right.up().data(), tolerance);
    near(found.down().data(), right.down().data(), tolerance);
}

/// The weights after clipping and one step of AdamW along a gradient, and its norm.
fn stepped<R: Real>(mlp: &Mlp<R>, gradient: &Mlp<R>, lr: f64) -> (Mlp<R>, f64) {
    let parts = |mlp: &Mlp<R>| [mlp.gate().clone(), mlp.up().clone(), mlp.down().clone()];
    let [mut gate, mut up, mut down] = parts(mlp);
    let [mut by_gate, mut by_up, mut by_down] = parts(gradient);
    let norm = clip([by_gate.data_mut(), by_up.data_mut(), by_down.data_mut()], 1.0);
    let mut adamw = AdamW::new(3 * gate.data().len(), lr, 0.01);
    adamw.step(
        [gate.data_mut(), up.data_mut(), down.data_mut()],
        [by_gate.data(), by_up.data(), by_down.data()],
    );
    (Mlp::new(gate, up, down).unwrap(), norm)
}

fn judge_is_right<R: Real>(tolerance: f64) {
    let right = vectors("judge.json");
    let judge = Judge::<R>::new(mlp(&right["weights"])).unwrap();
    let states = matrix(&right["states"]);
    let labels: Vec<bool> = indexes(&right["labels"]).into_iter().map(|label| label == 1).collect();
    near(&judge.logits(&states).unwrap(), &list(&right["logits"]), tolerance);
    near(&judge.probabilities(&states).unwrap(), &list(&right["probs"]), tolerance);
    let found = judge_loss(&judge, &states, &labels).unwrap();
    near(&[found.loss], &[right["loss"].as_f64().unwrap()], tolerance);
    near_mlp(&found.gradient, &right["grad"], tolerance);
    let (after, norm) = stepped(judge.mlp(), &found.gradient, right["lr"].as_f64().unwrap());
    near(&[norm], &[right["grad_norm"].as_f64().unwrap()], tolerance);
    near_mlp(&after, &right["after_one_step"], tolerance);
}

#[test]
fn the_judge_has_the_golden_values() {
    judge_is_right::<f64>(1e-9);
    judge_is_right::<f32>(1e-5);
}

fn retriever_is_right<R: Real>(name: &str, tolerance: f64) {
    let right = vectors(name);
    let w = list::<R>(&right["w"]);
    let heads = Retriever::new(mlp(&right["query_mlp"]), mlp(&right["tool_mlp"]), w).unwrap();
    let (queries, tools) =
        (matrix::<R>(&right["query_states"]), matrix::<R>(&right["tool_states"]));
    let tool_names = names(&right["tool_names"]);
    let place = |name: &&str| tool_names.iter().position(|other| other == name).unwrap();
    let gold: Vec<usize> = names(&right["gold"]).iter().map(place).collect();

    let query_vectors = heads.query_vectors(&queries).unwrap();
    let tool_vectors = heads.tool_vectors(&tools).unwrap();
    near(query_vectors.data(), matrix(&right["query_vectors"]).data(), tolerance);
    near(tool_vectors.data(), matrix(&right["tool_vectors"]).data(), tolerance);
    let found = scores(&query_vectors, &tool_vectors).unwrap();
    near(found.data(), matrix(&right["scores_all_tools"]).data(), tolerance);

    let (batch, labels) = tools_of_batch(&gold);
    let batch_names: Vec<_> = batch.iter().map(|tool| tool_names[*tool]).collect();
    assert_eq!(batch_names, names(&right["batch_tools"]));
    assert_eq!(labels, indexes(&right["batch_labels"]));
    let temperature = right["temperature"].as_f64().unwrap();
    let of_batch = scores(&query_vectors, &tool_vectors.taken(&batch)).unwrap();
    let divided: Vec<f64> = of_batch.data().iter().map(|x| x.to_f64() / temperature).collect();
    near(&divided, matrix(&right["batch_scores_over_T"]).data(), tolerance / temperature);

    let tools = tools.taken(&batch);
    let found = contrastive_loss(&heads, &queries, &tools, &labels, temperature).unwrap();
    near(&[found.loss], &[right["loss"].as_f64().unwrap()], tolerance);
    let gradient = found.gradient;
    near_mlp(&gradient.query, &right["grad"]["q"], tolerance);
    near_mlp(&gradient.tool, &right["grad"]["t"], tolerance);
    near(&gradient.w, &list(&right["grad"]["w"]), tolerance);

    let lr = right["lr"].as_f64().unwrap();
    let (query, query_norm) = stepped(heads.query(), &gradient.query, lr);
    let (tool, tool_norm) = stepped(heads.tool(), &gradient.tool, lr);
    let (mut w, mut by_w) = (heads.w().to_vec(), gradient.w);
    let w_norm = clip([&mut by_w], 1.0);
    AdamW::new(w.len(), right["lr_w"].as_f64().unwrap(), 0.01).step([&mut w], [&by_w]);
    let norms = ["q", "t", "w"].map(|part| right["grad_norm"][part].as_f64().unwrap());
    near(&[query_norm, tool_norm, w_norm], &norms, tolerance);
    let after = &right["after_one_step"];
    near_mlp(&query, &after["q"], tolerance);
    near_mlp(&tool, &after["t"], tolerance);
    near(&w, &list(&after["w"]), tolerance);
    let heads = Retriever::new(query, tool, w).unwrap();
    let loss = contrastive_loss(&heads, &queries, &tools, &labels, temperature).unwrap().loss;
    near(&[loss], &[right["loss_after_one_step"].as_f64().unwrap()], tolerance);
}

#[test]
fn the_retriever_has_the_golden_values() {
    for name in ["retriever_paper.json", "retriever_temperature.json"] {
        retriever_is_right::<f64>(name, 1e-9);
        retriever_is_right::<f32>(name, 1e-5);
    }
}

#[test]
fn the_optimiser_steps_when_the_golden_schedule_says() {
    let right = vectors("schedule.json");
    let steps = |schedule: Schedule, batches: usize, k: usize| -> Vec<usize> {
        (0..batches).filter(|batch| schedule.steps_after(*batch, batches, k)).collect()
    };
    let number = |value: &Value| value.as_u64().unwrap() as usize;
    for case in right["examples"].as_array().unwrap() {
        let found = steps(Schedule::Published, number(&case["batches"]), number(&case["k"]));
        match case.get("steps") {
            Some(count) => assert_eq!(found.len(), number(count)),
            None => assert_eq!(found, indexes(&case["steps_after_batch"])),
        }
    }
    let ours = &right["ours"];
    let found = steps(Schedule::EveryK, number(&ours["batches"]), number(&ours["k"]));
    assert_eq!(found, indexes(&ours["steps_after_batch"]));
}

#[test]
fn weights_of_dimensions_have_the_golden_values() {
    for name in ["retriever_paper.json", "retriever_temperature.json"] {
        let right = vectors(name);
        let w = list::<f64>(&right["w"]);
        near(&weight_z_scores(&w), &list(&right["z_w"]), 1e-9);
        let kept = above_mean(&w);
        assert_eq!(kept, indexes(&right["dims_above_mean"]));
        let (queries, tools) = (matrix(&right["query_vectors"]), matrix(&right["tool_vectors"]));
        let found = scores_on::<f64>(&queries, &tools, &kept).unwrap();
        let right = matrix(&right["scores_on_dims_above_mean_not_renormalised"]);
        near(found.data(), right.data(), 1e-9);
    }
}

#[test]
fn rankings_are_the_golden_ones() {
    for name in ["retriever_paper.json", "retriever_temperature.json"] {
        let right = vectors(name);
        let tools = names(&right["tool_names"]);
        let scores = matrix::<f64>(&right["scores_all_tools"]);
        for (scores, right) in scores.lines().zip(right["ranking"].as_array().unwrap()) {
            let found: Vec<_> = ranking(scores).into_iter().map(|tool| tools[tool]).collect();
            assert_eq!(found, names(right));
        }
    }
}

#[test]
fn labels_are_the_golden_ones() {
    let right = vectors("labels.json");
    for case in right["cases"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let starts = indexes(&case["start_str_idx"]);
        let tools = names(&case["tools"]);
        let ends = indexes(&case["token_ends"]);
        let labels: Vec<usize> =
            judge_labels(&ends, &starts).into_iter().map(usize::from).collect();
        assert_eq!(labels, indexes(&case["judge_labels"]));
        // With a token before the text, the published rule finds the same tokens; without, the next.
        let before: Vec<usize> =
            starts.iter().map(|start| ends.iter().filter(|end| *end <= start).count()).collect();
        let published = published_judge_labels(ends.len() + 1, &before);
        assert!(published[1..].iter().map(|label| usize::from(*label)).eq(labels.iter().copied()));
        assert_eq!(published_judge_labels(ends.len(), &before), published[..ends.len()]);
        let found = examples(text, &starts, &tools).unwrap();
        assert_eq!(found, golden_examples(&case["retriever_examples"]));
        let found = published_examples(text, &starts, &tools).unwrap();
        assert_eq!(found, golden_examples(&case["what_the_published_code_gives"]));
    }
}

fn golden_examples(value: &Value) -> Vec<Example<'_>> {
    value.as_array().unwrap().iter().map(golden_example).collect()
}

fn golden_example(value: &Value) -> Example<'_> {
    Example { text: value["text"].as_str().unwrap(), tool: value["tool"].as_str().unwrap() }
}

#[test]
fn measures_have_the_golden_values() {
    let right = vectors("metrics.json");
    let cases = |name: &str| right[name].as_array().unwrap().clone();
    for case in cases("topk") {
        let gold = case["gold"].as_u64().unwrap() as usize;
        let rank = rank_of(&list(&case["scores"]), gold).unwrap();
        assert_eq!(rank, case["rank_first_index_wins"], "{case}");
        let figures = Figures::of_ranks([rank]);
        assert_eq!(figures.top_1 == 1.0, case["top1"], "{case}");
        assert_eq!(figures.top_5 == 1.0, case["top5"], "{case}");
    }
}
