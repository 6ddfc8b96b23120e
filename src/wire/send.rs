//! What a client says. Nothing here waits for an answer; `buffer_…` messages go out together with the next flush.
//!
//! Extended query: <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY>. After an error
//! the server skips everything up to the next Sync, and answers that with ReadyForQuery.

use postgres_protocol::IsNull;
use postgres_protocol::message::frontend::{self, BindError, CopyData};

use super::trace::Detail;
use super::{Connection, WireError};

const STATEMENT: u8 = b'S';
const PORTAL: u8 = b'P';

impl Connection {
    /// Sends a simple query, together with everything that was buffered.
    pub fn send_query(&mut self, sql: &str) -> Result<(), WireError> {
        self.buffer_query(sql)?;
        self.flush();
        Ok(())
    }

    /// Writes what is buffered. What the socket does not take now goes out while messages are received.
    ///
    /// A lost connection shows when messages are received, after those that the server had still sent.
    pub fn flush(&mut self) {
        self.channel.flush();
    }

    /// Buffers a simple query: one or more statements.
    pub fn buffer_query(&mut self, sql: &str) -> Result<(), WireError> {
        self.line().sends(Detail::Statements, || sql.to_owned());
        self.channel.put(|buffer| frontend::query(sql, buffer))?;
        self.outstanding += 1;
        Ok(())
    }

    /// Buffers a Parse: prepares a statement, where `""` is the unnamed one and a type of 0 is left to the server.
    pub fn buffer_parse(&mut self, name: &str, sql: &str, parameter_types: &[u32]) -> Result<(), WireError> {
        self.line().sends(Detail::Statements, || format!("parse {name}: {sql}"));
        self.channel.put(|buffer| frontend::parse(name, sql, parameter_types.iter().copied(), buffer))
    }

    /// Buffers a Bind: makes a portal of a prepared statement. Parameters and results are in text format.
    pub fn buffer_bind(&mut self, portal: &str, statement: &str, parameters: &[Option<&str>]) -> Result<(), WireError> {
        self.line().sends(Detail::Statements, || format!("bind {statement} {parameters:?}"));
        self.channel.put(|buffer| {
            frontend::bind(
                portal,
                statement,
                [],
                parameters,
                |parameter, buffer| {
                    Ok(parameter.map_or(IsNull::Yes, |text| {
                        buffer.extend_from_slice(text.as_bytes());
                        IsNull::No
                    }))
                },
                [],
                buffer,
            )
            .map_err(|error| match error {
                BindError::Conversion(error) => std::io::Error::other(error),
                BindError::Serialization(error) => error,
            })
        })
    }

    /// Buffers a Describe of a prepared statement: answered by ParameterDescription, then as a portal.
    pub fn buffer_describe_statement(&mut self, name: &str) -> Result<(), WireError> {
        self.channel.put(|buffer| frontend::describe(STATEMENT, name, buffer))
    }

    /// Buffers a Describe of a portal: answered by RowDescription or NoData.
    pub fn buffer_describe_portal(&mut self, portal: &str) -> Result<(), WireError> {
        self.channel.put(|buffer| frontend::describe(PORTAL, portal, buffer))
    }

    /// Buffers an Execute: runs a portal, up to `max_rows` rows (0: all), then CommandComplete or PortalSuspended.
    pub fn buffer_execute(&mut self, portal: &str, max_rows: i32) -> Result<(), WireError> {
        self.channel.put(|buffer| frontend::execute(portal, max_rows, buffer))
    }

    /// Buffers a Close of a prepared statement.
    pub fn buffer_close_statement(&mut self, name: &str) -> Result<(), WireError> {
        self.channel.put(|buffer| frontend::close(STATEMENT, name, buffer))
    }

    /// Buffers a Close of a portal.
    pub fn buffer_close_portal(&mut self, portal: &str) -> Result<(), WireError> {
        self.channel.put(|buffer| frontend::close(PORTAL, portal, buffer))
    }

    /// Buffers a Sync: ends a pipeline, answered by ReadyForQuery.
    pub fn buffer_sync(&mut self) {
        self.line().sends(Detail::Messages, || "sync".to_owned());
        frontend::sync(self.channel.output());
        self.outstanding += 1;
    }

    /// Buffers rows of a COPY FROM STDIN.
    pub fn buffer_copy_data(&mut self, data: &[u8]) -> Result<(), WireError> {
        self.channel.put(|buffer| CopyData::new(data).map(|message| message.write(buffer)))
    }

    /// Buffers the end of a COPY FROM STDIN.
    pub fn buffer_copy_done(&mut self) {
        frontend::copy_done(self.channel.output());
    }

    /// Buffers the end of a COPY FROM STDIN that shall fail with this reason.
    pub fn buffer_copy_fail(&mut self, reason: &str) -> Result<(), WireError> {
        self.channel.put(|buffer| frontend::copy_fail(reason, buffer))
    }
}
