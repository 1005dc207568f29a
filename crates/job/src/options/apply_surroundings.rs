//! The functions of the rows on where the kernel puts a job: NUMA nodes.
//!
//! Must not know: the effect of these settings. Texts of errors as observed on fio 3.41.

use crate::error::JobError;
use crate::options::draft::{ApplyContext, Draft};
use crate::refused_value::RefusedValue;
use crate::value::Value;
use ferrio_units::NumaMemory;

type Applied = Result<(), JobError>;
type Context<'a, 'b> = &'a mut ApplyContext<'b>;

pub(crate) fn numa_cpu_nodes(draft: &mut Draft, value: &Value, context: Context) -> Applied {
    draft.job.surroundings.numa_cpu_nodes = Some(nodes(value.text()?, &context.environment.numa_nodes())?);
    Ok(())
}

pub(crate) fn numa_mem_policy(draft: &mut Draft, value: &Value, context: Context) -> Applied {
    let (word, list) = value.text()?.split_once(':').map_or((value.text()?, None), |(word, list)| (word, Some(list)));
    let online = context.environment.numa_nodes();
    let given = list.map(|list| nodes(list, &online));
    draft.job.surroundings.numa_memory = Some(match (word, given) {
        ("default", None) => NumaMemory::Default,
        ("local", None) => NumaMemory::Local,
        ("default", Some(_)) => return Err(RefusedValue::NumaNodesOf("default").into()),
        ("local", Some(_)) => return Err(RefusedValue::NumaNodesOf("local").into()),
        ("prefer", Some(given)) => match given?[..] {
            [node] => NumaMemory::Prefer(node),
            _ => return Err(RefusedValue::NumaPrefer.into()),
        },
        ("prefer", None) => return Err(RefusedValue::NumaPrefer.into()),
        ("bind", Some(given)) => NumaMemory::Bind(given?),
        ("bind", None) => return Err(RefusedValue::NumaBind.into()),
        ("interleave", given) => NumaMemory::Interleave(given.unwrap_or(Ok(online))?),
        _ => return Err(RefusedValue::NumaPolicy.into()),
    });
    Ok(())
}

/// `all`, or numbers and ranges joined by commas; with `!` before it all others. Only nodes that are online.
fn nodes(text: &str, online: &[u32]) -> Result<Vec<u32>, JobError> {
    let (is_inverted, body) = text.strip_prefix('!').map_or((false, text), |body| (true, body));
    let mut named = vec![false; online.len()];
    if body == "all" {
        named.fill(true);
    } else {
        for item in body.split(',') {
            let (first, last) = item.split_once('-').unwrap_or((item, item));
            let place = |node: &str| {
                let is_number = !node.is_empty() && node.bytes().all(|byte| byte.is_ascii_digit());
                let node = node.parse::<u32>().ok().filter(|_| is_number)?;
                online.iter().position(|other| *other == node)
            };
            let (first, last) =
                place(first).zip(place(last)).filter(|(first, last)| first <= last).ok_or(RefusedValue::NumaNodes)?;
            named[first..=last].fill(true);
        }
    }
    let chosen = online.iter().zip(named).filter(|(_, named)| *named != is_inverted).map(|(node, _)| *node);
    let chosen: Vec<u32> = chosen.collect();
    if chosen.is_empty() { Err(RefusedValue::NumaNodes.into()) } else { Ok(chosen) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_nodes() {
        let online = [0, 1, 3];
        for (text, expected) in [
            ("0", Some(vec![0])),
            ("1,3", Some(vec![1, 3])),
            ("0-3", Some(vec![0, 1, 3])),
            ("all", Some(vec![0, 1, 3])),
            ("!1", Some(vec![0, 3])),
            ("3,3", Some(vec![3])),
            ("2", None),
            ("0-2", None),
            ("3-0", None),
            ("!all", None),
            ("+0", None),
            ("x", None),
            ("", None),
            ("0,", None),
            ("4294967296", None),
        ] {
            assert_eq!(nodes(text, &online).ok(), expected, "{text}");
        }
    }
}
