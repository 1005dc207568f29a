//! Servers of other projects: nginx with WebDAV, versitygw and `MinIO` with S3, the gateway of Ceph with S3 and Swift. `tools/counterparts` starts and stops them.
//!
//! Start reading at any test.

use super::figure;
use crate::counterparts::{Counterpart, answers_about};
use crate::support::{Finished, Program, Run, Scratch};

#[test]
fn nginx_keeps_what_is_written() {
    let Some(nginx) = Counterpart::start("nginx_keeps_what_is_written", "webdav") else { return };
    let scratch = Scratch::new("http");
    let run = |key: &str, options: &str| {
        let (host, path) = nginx.place(key);
        let common = format!(
            "--name=t --ioengine=http --http_host={host} --filename={path}/o --http_user=user --output-format=json"
        );
        let password = if options.contains("http_pass") { "" } else { "--http_pass=secret" };
        Run::new(Program::Ferrio, scratch.path(), &format!("{common} {password} {options}")).finish()
    };
    let pattern = "--verify=pattern --verify_pattern=%o --rw=write";
    let written = run("DAV_URL", &format!("{pattern} --bs=64k --size=256k"));
    assert_eq!(written.code, Some(0), "{}", written.all());
    assert_eq!((figure(&written, "/write/total_ios"), figure(&written, "/read/total_ios")), (4, 4));
    // The pattern is the offset of each block in the file, so its contents are known.
    for block in 0..4_u64 {
        let file = nginx.directory.join(format!("files/dav/o_{}_65536", block * 65_536));
        let data = std::fs::read(file).expect("a file");
        assert_eq!(data.len(), 65_536);
        assert!(data.chunks(8).all(|word| word == (block * 65_536).to_le_bytes()), "block {block}");
    }
    let mixed = run("DAV_URL", "--rw=randrw --bs=4k --size=256k --verify=sha256");
    assert_eq!(mixed.code, Some(0), "{}", mixed.all());
    let whole = run(
        "DAV_URL",
        "--http_object_mode=range --rw=write --bs=1m --size=1m --verify=md5 --verify_interval=4k --do_verify=0",
    );
    assert_eq!(whole.code, Some(0), "{}", whole.all());
    let parts =
        run("DAV_URL", "--http_object_mode=range --rw=randread --bs=16k --size=1m --verify=md5 --verify_interval=4k");
    assert_eq!((parts.code, figure(&parts, "/read/total_ios")), (Some(0), 64), "{}", parts.all());
    let deleted = run("DAV_URL", "--rw=trim --bs=64k --size=256k");
    assert_eq!(deleted.code, Some(0), "{}", deleted.all());
    assert!(!nginx.directory.join("files/dav/o_0_65536").exists());
    for (key, options, why) in [
        ("DAV_PUT_LIMIT_URL", "--rw=write --bs=128k --size=256k", "DDIR_WRITE failed with HTTP status code 413"),
        ("DAV_URL", "--rw=write --bs=4k --size=4k --http_pass=wrong", "the server refuses this user and password"),
    ] {
        let refused = run(key, options);
        assert_eq!(refused.code, Some(1), "{options}: {}", refused.all());
        assert!(refused.all().contains(why), "{options}: {}", refused.all());
    }
}

#[test]
fn certificates_are_checked() {
    let Some(nginx) = Counterpart::start("certificates_are_checked", "webdav") else { return };
    let scratch = Scratch::new("http");
    scratch.write("empty.pem", "no certificate");
    let run = |key: &str, options: &str| {
        let (host, path) = nginx.place(key);
        let common = format!(
            "--name=t --ioengine=http --http_host={host} --filename={path}/o --http_user=user --http_pass=secret"
        );
        let options = options.replace("CA", nginx.setting("CA"));
        let work = "--rw=write --bs=64k --size=512k --verify=crc32c --output-format=json";
        Run::new(Program::Ferrio, scratch.path(), &format!("{common} {work} {options}")).finish()
    };
    for options in ["--https=on --http_ca=CA", "--https=insecure"] {
        let finished = run("DAV_URL_TLS", options);
        assert_eq!(finished.code, Some(0), "{options}: {}", finished.all());
        assert_eq!((figure(&finished, "/write/total_ios"), figure(&finished, "/read/total_ios")), (8, 8));
    }
    let insecure = run("DAV_URL_TLS_OTHER", "--https=insecure");
    assert_eq!(insecure.code, Some(0), "{}", insecure.all());
    for (key, options, why) in [
        (
            "DAV_URL_TLS",
            "--https=on",
            "the certificate of the server is refused: it is that of an authority of its own, which is not trusted",
        ),
        (
            "DAV_URL_TLS_OTHER",
            "--https=on --http_ca=CA",
            "the certificate of the server is refused: it is of another host than 127.0.0.2",
        ),
        ("DAV_URL", "--https=on --http_ca=CA", "the server does not speak TLS here"),
        ("DAV_URL_TLS", "--https=on --http_ca=empty.pem", "empty.pem: there is no certificate in it"),
        ("DAV_URL_TLS", "--https=on --http_ca=missing.pem", "option http_ca=missing.pem"),
    ] {
        let refused = run(key, options);
        let what = format!("{options}: {}", refused.all());
        assert!(refused.code == Some(1) && what.contains(why), "{what}");
    }
    // A server without TLS is not spoken to in TLS, and the other way round it says so itself.
    let plain = run("DAV_URL_TLS", "--https=off");
    assert!(plain.code == Some(1) && plain.all().contains("HTTP status code 400"), "{}", plain.all());
}

/// Jobs on an S3 server whose settings are those of `key`: what is written is read back, and what is wrong is refused in the words of
/// the server.
fn keeps_objects(server: &Counterpart, key: &str, tls: &str) {
    let scratch = Scratch::new("http");
    let (host, _) = server.place(key);
    let common = format!(
        "--name=t --ioengine=http --http_mode=s3 --http_host={host} --http_s3_keyid={} --http_s3_region={} \
         --output-format=json {}",
        server.setting("S3_KEY"),
        server.setting("S3_REGION"),
        if tls.is_empty() { String::new() } else { format!("--https=on --http_ca={}", server.setting("CA")) },
    );
    let right = format!("--http_s3_key={}", server.setting("S3_SECRET"));
    let run = |options: &str| {
        let key = if options.contains("http_s3_key=") { "" } else { &right };
        let name = if options.contains("filename") {
            String::new()
        } else {
            format!("--filename=/{}/a+b=c", server.setting("S3_BUCKET"))
        };
        Run::new(Program::Ferrio, scratch.path(), &format!("{common} {key} {name} {options}")).finish()
    };
    let written = run("--rw=randwrite --bs=16k --size=256k --verify=sha256");
    assert_eq!(written.code, Some(0), "{}", written.all());
    assert_eq!((figure(&written, "/write/total_ios"), figure(&written, "/read/total_ios")), (16, 16));
    let whole = "--http_object_mode=range --verify=crc32c --verify_interval=4k --size=1m";
    let put = run(&format!("{whole} --rw=write --bs=1m --do_verify=0"));
    assert_eq!(put.code, Some(0), "{}", put.all());
    let got = run(&format!("{whole} --rw=randread --bs=64k"));
    assert_eq!((got.code, figure(&got, "/read/total_ios")), (Some(0), 16), "{}", got.all());
    // 5 MiB is the least that a server takes for a part but the last.
    let parts = "--http_object_mode=range --verify=crc32c --verify_interval=4k --size=12m --http_s3_part_size=5m";
    for n_at_once in [1, 3] {
        let put = run(&format!("{parts} --http_s3_parallel={n_at_once} --rw=write --bs=12m"));
        assert_eq!(put.code, Some(0), "{n_at_once}: {}", put.all());
        assert_eq!((figure(&put, "/write/total_ios"), figure(&put, "/read/total_ios")), (1, 1));
    }
    let tiny = run("--http_object_mode=range --size=64k --bs=64k --rw=write --http_s3_part_size=16k");
    assert!(tiny.code == Some(1) && tiny.all().contains("EntityTooSmall"), "{}", tiny.all());
    let zeroes = run("--rw=read --bs=8k --size=16k --verify=pattern --verify_pattern=0");
    assert_eq!(zeroes.code, Some(0), "{}", zeroes.all());
    let deleted = run("--rw=trim --bs=16k --size=256k");
    assert_eq!(deleted.code, Some(0), "{}", deleted.all());
    for (options, line, why) in [
        ("--http_s3_key=wrong", "code 403", "the server says SignatureDoesNotMatch"),
        ("--http_s3_keyid=NOBODY", "failed with HTTP status code 40", "the server does not know http_s3_keyid"),
        ("--filename=/no-such-bucket/x", "code 404", "the server says NoSuchBucket"),
    ] {
        let refused = run(&format!("--rw=write --bs=4k --size=4k {options}"));
        let what = format!("{options}: {}", refused.all());
        assert!(refused.code == Some(1) && what.contains(line) && what.contains(why), "{what}");
    }
}

#[test]
fn versitygw_keeps_what_is_written() {
    let Some(server) = Counterpart::start("versitygw_keeps_what_is_written", "s3-versitygw") else { return };
    keeps_objects(&server, "S3_ENDPOINT", "");
    // The files of the bucket are those of the directory.
    assert!(server.directory.join("data/bucket/a+b=c").exists());
}

/// A job over TLS on an object of an S3 server, whose place is that of `key`.
fn on_secret(server: &Counterpart, key: &str, scratch: &Scratch, options: &str) -> Finished {
    let (host, _) = server.place(key);
    let common = format!(
        "--name=t --ioengine=http --http_mode=s3 --http_host={host} --https=on --http_ca={} --http_s3_keyid={} --http_s3_key={} \
         --filename=/{}/secret --bs=4k --size=16k --output-format=json",
        server.setting("CA"),
        server.setting("S3_KEY"),
        server.setting("S3_SECRET"),
        server.setting("S3_BUCKET"),
    );
    Run::new(Program::Ferrio, scratch.path(), &format!("{common} {options}")).finish()
}

#[test]
fn minio_keeps_what_is_written() {
    let Some(server) = Counterpart::start("minio_keeps_what_is_written", "s3-minio") else { return };
    keeps_objects(&server, "S3_ENDPOINT", "tls");
    let scratch = Scratch::new("http");
    let run = |options: &str| on_secret(&server, "S3_ENDPOINT", &scratch, options);
    // The server encrypts objects with the key of the customer, and gives them to nobody else.
    let key = "--http_s3_sse_customer_key=0123456789abcdef0123456789abcdef --http_s3_storage_class=REDUCED_REDUNDANCY";
    let written = run(&format!("--rw=write --verify=crc32c {key}"));
    assert_eq!(written.code, Some(0), "{}", written.all());
    let other = run("--rw=read --http_s3_sse_customer_key=another");
    assert!(other.code == Some(1) && other.all().contains("code 403"), "{}", other.all());
    let region = run("--rw=read --http_s3_region=nowhere-1");
    assert!(region.code == Some(1) && region.all().contains("the server's region is us-east-1"), "{}", region.all());
}

#[test]
fn the_gateway_of_ceph_keeps_what_is_written() {
    let test = "the_gateway_of_ceph_keeps_what_is_written";
    let Some(server) = Counterpart::start_with(test, "ceph-cluster", &["memory", "s3"]) else { return };
    keeps_objects(&server, "S3_ENDPOINT", "");
    keeps_objects(&server, "S3_ENDPOINT_TLS", "tls");
    let scratch = Scratch::new("http");
    let secret = |options: &str| on_secret(&server, "S3_ENDPOINT_TLS", &scratch, options);
    // The gateway encrypts objects with the key of the customer, and gives them to nobody else.
    let key = "--http_s3_sse_customer_key=0123456789abcdef0123456789abcdef";
    let written = secret(&format!("--rw=write --verify=crc32c {key} --http_s3_storage_class=COLD"));
    assert_eq!(written.code, Some(0), "{}", written.all());
    for options in ["", "--http_s3_sse_customer_key=another"] {
        let other = secret(&format!("--rw=read {options}"));
        assert!(other.code == Some(1) && other.all().contains("failed with HTTP status code 4"), "{}", other.all());
    }
    swift(&server, &scratch);
    // What a request without a login shows.
    let found = answers_about(&scratch, &format!("{}/{}/", server.setting("S3_ENDPOINT"), server.setting("S3_BUCKET")));
    assert!(found.contains(&("S3".to_owned(), "works".to_owned())), "{found:?}");
}

/// Objects of Swift, whose token the script of the gateway gets.
fn swift(server: &Counterpart, scratch: &Scratch) {
    let said = server.ask("token");
    let (url, token) = said.trim().split_once(' ').expect("an address and a token");
    let (host, path) = url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).expect("an address");
    let run = |token: &str, options: &str| {
        let common = format!(
            "--name=t --ioengine=http --http_mode=swift --http_host={host} --http_swift_auth_token={token} \
             --filename=/{path}/{}/o --output-format=json",
            server.setting("SWIFT_CONTAINER")
        );
        Run::new(Program::Ferrio, scratch.path(), &format!("{common} {options}")).finish()
    };
    let written = run(token, "--rw=randwrite --bs=16k --size=256k --verify=sha256");
    assert_eq!((written.code, figure(&written, "/read/total_ios")), (Some(0), 16), "{}", written.all());
    let deleted = run(token, "--rw=trim --bs=16k --size=256k");
    assert_eq!(deleted.code, Some(0), "{}", deleted.all());
    let refused = run("wrong", "--rw=write --bs=4k --size=4k");
    assert!(refused.code == Some(1) && refused.all().contains("HTTP status code 40"), "{}", refused.all());
}
