//! Programs of a few lines whose schedules are counted.

use std::path::Path;

use isolab::scenario::{Disk, Scenario, parse};

fn scenario(text: &str) -> Scenario {
    parse(&Disk, Path::new("program.sql"), text).expect("valid").scenario
}

/// Two sessions read two rows, and each writes one: five choices each.
pub fn write_skew() -> Scenario {
    let session = |name: &str, id: u8| {
        format!(
            "-- @session {name}\nSELECT on_call FROM doctors WHERE id = 1;\nSELECT on_call FROM doctors WHERE id = 2;\n\
             SELECT 1;\nUPDATE doctors SET on_call = false WHERE id = {id};\n"
        )
    };
    scenario(&format!(
        "-- @title Write skew\n-- @schema\nCREATE TABLE doctors (id int PRIMARY KEY, on_call bool NOT NULL);\n\
         -- @setup\nINSERT INTO doctors VALUES (1, true), (2, true);\n{}{}",
        session("a", 1),
        session("b", 2)
    ))
}

/// Sessions that read a counter and write one more: four choices each.
pub fn lost_update(sessions: usize) -> Scenario {
    let body = "SELECT v FROM counter WHERE id = 1 \\gset\nSELECT 1;\nUPDATE counter SET v = :v + 1 WHERE id = 1;\n";
    let sessions: String = (1..=sessions).map(|number| format!("-- @session s{number}\n{body}")).collect();
    scenario(&format!(
        "-- @title Lost update\n-- @schema\nCREATE TABLE counter (id int PRIMARY KEY, v int NOT NULL);\n\
         -- @setup\nINSERT INTO counter VALUES (1, 0);\n{sessions}"
    ))
}
