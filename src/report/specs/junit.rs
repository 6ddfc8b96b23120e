//! Files as test cases, in JUnit's XML.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::{SpecResult, SpecRow};

/// One suite, one case for each file.
pub fn document(rows: &[SpecRow], server_version: &str) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new("isolation");
    suite.add_property(("server_version", server_version));
    suite.add_test_cases(rows.iter().map(case));
    let mut report = Report::new("isolab spec");
    report.add_test_suite(suite);
    report.to_string()
}

fn case(row: &SpecRow) -> TestCase {
    let mut status = match row.result {
        SpecResult::Same | SpecResult::Played => TestCaseStatus::success(),
        SpecResult::Differs => TestCaseStatus::non_success(NonSuccessKind::Failure),
        SpecResult::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    if let Some(message) = &row.message {
        status.set_type(row.result.name()).set_message(message.as_str());
        status.set_description(String::from_utf8_lossy(&row.diff));
    }
    let mut case = TestCase::new(row.file.trim_end_matches(".spec"), status);
    case.set_classname("isolation").set_time(Duration::from_secs_f64(row.seconds));
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Comparison, Summary};

    fn row(file: &str, error: Option<&str>) -> SpecRow {
        SpecRow::played(file, Summary::default(), 0.5, error.map(str::to_owned))
    }

    #[test]
    fn results_are_successes_failures_and_errors() {
        let differs = Comparison::Differs { nearest: "b.out".to_owned(), diff: b"-<a>\n+b\n".to_vec() };
        let rows = [
            row("a.spec", None).compared(Comparison::Same { matched: "a.out".to_owned() }),
            row("b.spec", None).compared(differs),
            row("c.spec", Some("setup failed")),
        ];
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="isolab spec" tests="3" skipped="0" failures="1" errors="1">
    <testsuite name="isolation" tests="3" skipped="0" errors="1" failures="1">
        <properties>
            <property name="server_version" value="18.6"/>
        </properties>
        <testcase name="a" classname="isolation" time="0.500"/>
        <testcase name="b" classname="isolation" time="0.500">
            <failure message="differs from b.out" type="differs">-&lt;a&gt;
+b
</failure>
        </testcase>
        <testcase name="c" classname="isolation" time="0.500">
            <error message="setup failed" type="error"></error>
        </testcase>
    </testsuite>
</testsuites>
"#;
        assert_eq!(document(&rows, "18.6").unwrap(), expected);
    }
}
