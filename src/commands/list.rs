//! `isolab list`: the built-in scenarios, all of them or those that a filter leaves.

use clap::Args;

use super::context::Context;
use super::exit::Exit;
use super::reports::{Format, ReportArgs, Reports};
use super::selection::level_of;
use crate::report::Style;
use crate::report::catalogue::{Entry, render};
use crate::report::json::Document;
use crate::scenario::{Level, builtin, nearest};

/// What the columns are.
const AFTER_HELP: &str = "\
Each line has a scenario's name and what the literature calls the bug; -v, or a WORD, adds its title.

Examples:
  isolab list --family queues            the bugs of job queues
  isolab list --level repeatable-read    what happens at that level as written, by its @expect
  isolab list coupon                     those whose name, title, story or fixes say so";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct ListArgs {
    /// Only those whose name, title, story or fixes have this word; of several words all.
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// Only this family. Repeatable.
    #[arg(long, value_name = "FAMILY")]
    family: Vec<String>,
    /// Only what happens at this level as written.
    #[arg(long, value_name = "LEVEL", value_parser = level_of)]
    level: Option<Level>,
    #[command(flatten)]
    report: ReportArgs,
}

pub fn run(args: &ListArgs, context: &mut Context) -> anyhow::Result<Exit> {
    let mut reports = Reports::open(&args.report, &[Format::Text, Format::Json])?;
    let mut all = Vec::new();
    for builtin in builtin() {
        all.push(Entry::new(builtin.family(), &builtin.parse()?));
    }
    all.sort_by(|a, b| a.family.cmp(&b.family));
    let unknown = unmatched(args, &all);
    let found: Vec<Entry> = all.into_iter().filter(|entry| fits(args, entry)).collect();
    let titles = context.global.verbose > 0 || !args.words.is_empty();
    if reports.stdout() == Format::Text {
        context.say(&render(context.style, &found, args.level, titles))?;
    }
    reports.write(Format::Text, &render(Style::PLAIN, &found, args.level, titles), context)?;
    let nothing_matched = found.is_empty();
    if reports.wants(Format::Json) {
        let mut document = Document::new(None, None);
        document.list = Some(found);
        reports.write(Format::Json, &document.to_text()?, context)?;
    }
    if nothing_matched {
        context.note(&format!("error: {}", unknown.unwrap_or_else(|| "no scenario fits all of that".to_owned())));
        return Ok(Exit::NothingMatched);
    }
    Ok(Exit::Held)
}

fn fits(args: &ListArgs, entry: &Entry) -> bool {
    (args.family.is_empty() || args.family.contains(&entry.family))
        && args.level.is_none_or(|level| entry.happens_at(level))
        && args.words.iter().all(|word| entry.mentions(word))
}

/// The first filter that fits nothing by itself, with what could be meant.
fn unmatched(args: &ListArgs, all: &[Entry]) -> Option<String> {
    let mut families: Vec<&str> = all.iter().map(|entry| entry.family.as_str()).collect();
    families.dedup();
    let family = args.family.iter().find(|family| !families.contains(&family.as_str())).map(|family| {
        let near = nearest(family, families.iter().copied());
        let help = near.map_or_else(|| format!("the families are {}", families.join(", ")), meant);
        format!("no family is called `{family}`; {help}")
    });
    family.or_else(|| {
        let word = args.words.iter().find(|word| !all.iter().any(|entry| entry.mentions(word)))?;
        let near = nearest(word, all.iter().flat_map(words));
        let help = near.map_or_else(|| "`isolab list` names them all".to_owned(), meant);
        Some(format!("no scenario mentions `{word}`; {help}"))
    })
}

fn meant(near: &str) -> String {
    format!("did you mean `{near}`?")
}

/// What a search may have been meant for: the names, and the words in them and in the title.
fn words(entry: &Entry) -> impl Iterator<Item = &str> {
    let names = std::iter::once(entry.name.as_str()).chain([entry.family.as_str()]);
    let parts = entry.name.split('-').chain(entry.title.split(|c: char| !c.is_alphanumeric()));
    names.chain(parts).chain(entry.fixes.iter().map(String::as_str)).filter(|word| word.len() > 2)
}
