//! Manifests of fleets for Kubernetes: what is in them, and what a schema, an API server and its Job controller make of them.
//!
//! No container runs: a pod is a process here, with the arguments and the environment that the pod has. Start reading at
//! [`pods_of_a_manifest_meet`].

use crate::counterparts::Counterpart;
use crate::fleets::{VIRTUAL, document};
use crate::support::{Program, Run, Scratch, has_programs};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const PODS: u32 = 3;

/// A manifest of a job file, with a claim that all pods have.
fn manifest(scratch: &Scratch) -> String {
    let options = VIRTUAL.replace(" --", "\n");
    scratch.write("job.fio", format!("[s]\n{}\nnumber_ios=1000\n", options.trim_start_matches("--")));
    let options = format!(
        "fleet --manifest=kubernetes --pods={PODS} --image=registry/x:1 --claim=shared --on-lost-host=continue --json job.fio"
    );
    Run::new(Program::Ferrio, scratch.path(), &options).finish().succeeded().stdout
}

fn objects(manifest: &str) -> Vec<Value> {
    manifest.split("---\n").skip(1).map(|object| serde_json::from_str(object).expect("JSON")).collect()
}

/// Runs the pods with these containers, in the order of their ranks, whose environment has what Kubernetes sets; returns what rank 0 reports.
fn run_pods(scratch: &Scratch, secret: &Value, containers: &[(Value, String)]) -> Value {
    for (name, text) in secret.as_object().expect("files") {
        scratch.write(name, text.as_str().expect("a text"));
        fs::set_permissions(scratch.join(name), fs::Permissions::from_mode(0o400)).expect("permissions");
    }
    // A port that nobody else has, in the place of that of the pods.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its number").port();
    drop(listener);
    let pods = containers.iter().map(|(container, index)| {
        let arguments = container["args"].as_array().expect("arguments").iter().filter_map(Value::as_str);
        let here = |word: &str| {
            word.replace("ferrio-fleet-0.ferrio-fleet:8766", &format!("127.0.0.1:{port}")).replace("/etc/ferrio/", "")
        };
        let arguments: Vec<String> = arguments.map(here).collect();
        let run = Run::new(Program::Ferrio, scratch.path(), &arguments.join(" ")).env("JOB_COMPLETION_INDEX", index);
        let set = container["env"].as_array().expect("variables").iter();
        set.filter_map(|variable| Some((variable["name"].as_str()?, variable["value"].as_str()?)))
            .fold(run, |run, (name, value)| run.env(name, value))
            .start()
    });
    let pods: Vec<_> = pods.collect();
    let mut ended = pods.into_iter().map(|pod| pod.finish().succeeded());
    let first = ended.next().expect("rank 0");
    ended.for_each(|pod| assert_eq!(pod.stdout, "", "rank 0 has the report"));
    document(&first)
}

/// A manifest's pods have the address and a file with the key; the rank is their index.
#[test]
fn pods_of_a_manifest_meet() {
    let scratch = Scratch::new("fleet-pods");
    let objects = objects(&manifest(&scratch));
    let container = &objects[2]["spec"]["template"]["spec"]["containers"][0];
    let words: Vec<&str> = container["args"].as_array().expect("words").iter().filter_map(Value::as_str).collect();
    assert!(words.contains(&"--join-limit=300") && words.contains(&"--on-lost-host=continue"), "{words:?}");
    let containers: Vec<(Value, String)> = (0..PODS).map(|index| (container.clone(), index.to_string())).collect();
    let report = run_pods(&scratch, &objects[0]["stringData"], &containers);
    assert_eq!(report["jobs"][0]["n_ios"].as_u64(), Some(1_000 * u64::from(PODS)), "{report}");
}

/// A field that the schema of Kubernetes does not know is an error.
#[test]
fn a_manifest_follows_the_schema() {
    let test = "a_manifest_follows_the_schema";
    if !has_programs(test, &["kubernetes-validate"]) {
        return;
    }
    let scratch = Scratch::new("fleet-schema");
    let written = manifest(&scratch);
    scratch.write("fleet.yaml", &written);
    scratch.write("misspelt.yaml", written.replace("completionMode", "completionsMode"));
    let follows = |name: &str| {
        let mut command = Command::new("kubernetes-validate");
        let command = command.args(["--strict", "--no-warn", "-k", "1.34"]).arg(scratch.join(name));
        command.output().expect("a program").status.success()
    };
    assert!(follows("fleet.yaml") && !follows("misspelt.yaml"));
}

/// The API of a cluster.
struct Cluster(Counterpart);

impl Cluster {
    /// The answer to a request, which must be taken.
    fn ask(&self, method: &str, path: &str, kind: &str, body: Option<&Value>) -> Value {
        let mut command = Command::new("curl");
        command.args(["-sS", "--fail-with-body", "--noproxy", "*", "--cacert", self.0.setting("CA"), "-X", method]);
        command.args(["-H", &format!("Authorization: Bearer {}", self.0.setting("K8S_TOKEN"))]);
        if let Some(body) = body {
            command.args(["-H", &format!("Content-Type: application/{kind}"), "-d", &body.to_string()]);
        }
        let output = command.arg(format!("{}{path}", self.0.setting("K8S_SERVER"))).output().expect("curl");
        let answer = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{path}: {answer}");
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    /// Asks until this is true of the answer.
    fn wait_for(&self, path: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..600 {
            let answer = self.ask("GET", path, "json", None);
            if is_it(&answer) {
                return answer;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("{path}: {}", self.ask("GET", path, "json", None));
    }
}

/// A cluster takes all objects without a warning, and its Job controller makes pods that are a fleet.
#[test]
fn a_cluster_takes_a_manifest() {
    let Some(cluster) = Counterpart::start("a_cluster_takes_a_manifest", "k8s-control-plane") else { return };
    let cluster = Cluster(cluster);
    let scratch = Scratch::new("fleet-cluster");
    let objects = objects(&manifest(&scratch));
    let (all, jobs) = ("/api/v1/namespaces/default", "/apis/batch/v1/namespaces/default/jobs");
    let places = [format!("{all}/secrets"), format!("{all}/services"), jobs.to_owned()];
    for (object, place) in objects.iter().zip(&places) {
        cluster.ask("POST", &format!("{place}?fieldValidation=Strict"), "json", Some(object));
    }
    let made = |answer: &Value| answer["items"].as_array().map_or(0, Vec::len) == PODS as usize;
    let pods = cluster.wait_for(&format!("{all}/pods?labelSelector=job-name%3Dferrio-fleet"), made);
    let index_of = |pod: &Value| {
        let label = &pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"];
        label.as_str().expect("an index").to_owned()
    };
    let mut pods: Vec<Value> = pods["items"].as_array().expect("pods").clone();
    pods.sort_by_key(index_of);
    let mut containers = Vec::new();
    for (rank, pod) in pods.iter().enumerate() {
        // The name that the others look for is this one with the service behind it.
        let (name, service) = (&pod["spec"]["hostname"], &pod["spec"]["subdomain"]);
        assert_eq!((name.as_str(), service.as_str()), (Some(&*format!("ferrio-fleet-{rank}")), Some("ferrio-fleet")));
        assert_eq!(objects[1]["metadata"]["name"].as_str(), service.as_str());
        let labels = pod["metadata"]["labels"].as_object().expect("labels");
        let selector = objects[1]["spec"]["selector"].as_object().expect("a selector");
        assert!(selector.iter().all(|(key, value)| labels.get(key) == Some(value)), "{labels:?}");
        let container = pod["spec"]["containers"][0].clone();
        let variables = container["env"].as_array().expect("variables");
        let rank_of = variables.iter().find(|variable| variable["name"] == "JOB_COMPLETION_INDEX").expect("the rank");
        let field = rank_of["valueFrom"]["fieldRef"]["fieldPath"].as_str();
        assert_eq!(field, Some("metadata.labels['batch.kubernetes.io/job-completion-index']"));
        containers.push((container, index_of(pod)));
    }
    let report = run_pods(&scratch, &objects[0]["stringData"], &containers);
    assert_eq!(report["jobs"][0]["n_ios"].as_u64(), Some(1_000 * u64::from(PODS)), "{report}");
    // They have ended well, and so has the Job.
    for pod in &pods {
        let name = pod["metadata"]["name"].as_str().expect("a name");
        let ended = json!({ "status": { "phase": "Succeeded" } });
        cluster.ask("PATCH", &format!("{all}/pods/{name}/status"), "merge-patch+json", Some(&ended));
    }
    cluster.wait_for(&format!("{jobs}/ferrio-fleet"), |job| job["status"]["completedIndexes"] == "0-2");
}
