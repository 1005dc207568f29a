//! `ferrio fleet --manifest=kubernetes`: an indexed Job whose pods are the hosts of a fleet, with the Service by which they find rank 0 and
//! the Secret that holds the key of the run and the job files.
//!
//! YAML is written as JSON, which it includes, so that no text of a user can change its structure. Start reading at [`kubernetes`].

use anyhow::{Context, anyhow};
use ferrio::fleet::wire::secrets::RunKey;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Name of the objects.
const NAME: &str = "ferrio-fleet";
/// Port of rank 0.
const PORT: u16 = 8766;
/// Where the Secret is in a pod.
const MOUNT: &str = "/etc/ferrio";
/// Where the claim is in a pod, and the working directory.
const DATA: &str = "/data";

/// What the manifest is about.
pub(super) struct Pods<'a> {
    pub(super) image: &'a str,
    pub(super) n_hosts: u32,
    /// A `PersistentVolumeClaim`.
    pub(super) claim: Option<&'a str>,
    /// Options of the fleet for all of them.
    pub(super) options: Vec<String>,
}

/// The manifest of these jobs: fio's words as they were given, of which those that name a job file are replaced by its place in the pod.
///
/// # Errors
/// A job file cannot be read, or there is no key.
pub(super) fn kubernetes(pods: &Pods<'_>, words: &[OsString], inputs: &[PathBuf]) -> anyhow::Result<String> {
    let key = RunKey::new()?;
    let mut secret = json!({ "key": key.to_text() });
    let mut arguments = vec![
        json!("fleet"),
        json!(format!("--coordinator={NAME}-0.{NAME}:{PORT}")),
        json!(format!("--key-file={MOUNT}/key")),
    ];
    arguments.extend(pods.options.iter().map(|option| json!(option)));
    for word in words {
        let text = word.to_str().ok_or_else(|| anyhow!("{} is no UTF-8", word.display()))?;
        let path = Path::new(text);
        if !inputs.iter().any(|input| input == path) {
            arguments.push(json!(text));
            continue;
        }
        let content = std::fs::read_to_string(path).with_context(|| text.to_owned())?;
        let name = format!("job{}.fio", secret.as_object().map_or(0, serde_json::Map::len));
        arguments.push(json!(format!("{MOUNT}/{name}")));
        secret[name.as_str()] = json!(content);
    }
    let objects = [secret_object(&secret), service(), job(pods, &arguments)];
    let texts: Vec<String> = objects.iter().map(|object| format!("---\n{object:#}\n")).collect();
    Ok(texts.concat())
}

fn metadata() -> Value {
    json!({ "name": NAME, "labels": { "app": NAME } })
}

fn secret_object(content: &Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "Secret", "metadata": metadata(), "type": "Opaque", "stringData": content })
}

/// A service without an address of its own: it gives each pod a name. Pods are found before they are ready.
fn service() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(),
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": true,
            "selector": { "app": NAME },
            "ports": [{ "name": "fleet", "port": PORT }],
        },
    })
}

fn job(pods: &Pods<'_>, arguments: &[Value]) -> Value {
    let mut mounts = vec![json!({ "name": "fleet", "mountPath": MOUNT, "readOnly": true })];
    let mut volumes = vec![json!({ "name": "fleet", "secret": { "secretName": NAME, "defaultMode": 0o400 } })];
    match pods.claim {
        Some(claim) => volumes.push(json!({ "name": "data", "persistentVolumeClaim": { "claimName": claim } })),
        None => volumes.push(json!({ "name": "data", "emptyDir": {} })),
    }
    mounts.push(json!({ "name": "data", "mountPath": DATA }));
    let container = json!({
        "name": "ferrio",
        "image": pods.image,
        "command": ["ferrio"],
        "args": arguments,
        "workingDir": DATA,
        // The rank is in JOB_COMPLETION_INDEX, which Kubernetes sets.
        "env": [{ "name": "FERRIO_HOSTS", "value": pods.n_hosts.to_string() }],
        "ports": [{ "containerPort": PORT }],
        "volumeMounts": mounts,
    });
    // Each pod on another node, if there are as many.
    let apart = json!({
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{
                "weight": 100,
                "podAffinityTerm": {
                    "labelSelector": { "matchLabels": { "app": NAME } },
                    "topologyKey": "kubernetes.io/hostname",
                },
            }],
        },
    });
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(),
        "spec": {
            "completionMode": "Indexed",
            "completions": pods.n_hosts,
            "parallelism": pods.n_hosts,
            "backoffLimit": 0,
            "template": {
                "metadata": { "labels": { "app": NAME } },
                "spec": {
                    "subdomain": NAME,
                    "restartPolicy": "Never",
                    "affinity": apart,
                    "containers": [container],
                    "volumes": volumes,
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_has_what_pods_need() {
        let pods = Pods {
            image: "registry/ferrio:1",
            n_hosts: 3,
            claim: Some("shared"),
            options: vec!["--partition".to_owned()],
        };
        let words = ["--name=a", "--rw=read"].map(OsString::from);
        let text = kubernetes(&pods, &words, &[]).expect("a manifest");
        let objects: Vec<Value> =
            text.split("---\n").skip(1).map(|object| serde_json::from_str(object).expect("JSON")).collect();
        let kinds: Vec<&str> = objects.iter().filter_map(|object| object["kind"].as_str()).collect();
        assert_eq!(kinds, ["Secret", "Service", "Job"]);
        let key = objects[0]["stringData"]["key"].as_str().expect("a key");
        assert!(RunKey::from_text(key).is_ok());
        assert!(!objects[2].to_string().contains(key), "the key is in the Secret alone");
        let container = &objects[2]["spec"]["template"]["spec"]["containers"][0];
        let arguments: Vec<&str> =
            container["args"].as_array().expect("arguments").iter().filter_map(Value::as_str).collect();
        assert_eq!(arguments[0], "fleet");
        assert_eq!(arguments[3..], ["--partition", "--name=a", "--rw=read"]);
        assert!(arguments.contains(&"--coordinator=ferrio-fleet-0.ferrio-fleet:8766"));
        assert_eq!(container["env"][0]["value"], "3");
    }
}
