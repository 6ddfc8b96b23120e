//! The rows of the table: the scenario as written, its variants and its fixes, each at its own level.

use super::error::LoadError;
use crate::scenario::{Level, Load, Scenario, nearest};

/// What the as-written row is called where `@load` does not say.
const AS_WRITTEN: &str = "as-written";

/// One form of a scenario at one level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strategy {
    pub name: String,
    /// The fix or variant; none as written.
    pub fix: Option<String>,
    /// A check that fails in a fix is a failure; as written and in a variant it is what the table is there to show.
    pub is_fix: bool,
    pub level: Level,
}

/// The strategies by these names, or all, in file order. `levels` are for those that have none of their own; empty:
/// read-committed.
pub fn strategies(
    scenario: &Scenario,
    load: &Load,
    names: &[String],
    levels: &[Level],
) -> Result<Vec<Strategy>, LoadError> {
    let levels = if levels.is_empty() { &[Level::ReadCommitted] } else { levels };
    let at = |name: &str, fix: Option<&str>, is_fix, levels: &[Level]| -> Vec<Strategy> {
        let strategy =
            |level: &Level| Strategy { name: name.to_owned(), fix: fix.map(str::to_owned), is_fix, level: *level };
        levels.iter().map(strategy).collect()
    };
    let mut all = at(load.name.as_deref().unwrap_or(AS_WRITTEN), None, false, levels);
    for variant in &scenario.variants {
        let levels = if variant.levels.is_empty() { levels } else { &variant.levels };
        all.extend(at(&variant.name, Some(&variant.name), variant.is_fix, levels));
    }
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|strategy| strategy.name != **name)) {
        let mut known: Vec<String> = all.into_iter().map(|strategy| strategy.name).collect();
        known.dedup();
        let nearest = nearest(unknown, known.iter().map(String::as_str)).map(str::to_owned);
        return Err(LoadError::UnknownStrategy { name: unknown.clone(), nearest, known });
    }
    if !names.is_empty() {
        all.retain(|strategy| names.contains(&strategy.name));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::source::Span;
    use crate::scenario::{LoadAmount, Plan, Variant};

    fn scenario() -> Scenario {
        let variant = |name: &str, is_fix, levels: &[Level]| Variant {
            name: name.to_owned(),
            is_fix,
            levels: levels.to_vec(),
            story: String::new(),
            span: Span::default(),
            plan: Plan::default(),
        };
        Scenario {
            name: "overspend".to_owned(),
            title: String::new(),
            story: String::new(),
            sources: Default::default(),
            levels: Vec::new(),
            params: Vec::new(),
            databases: Vec::new(),
            pools: Vec::new(),
            load: Some(Load {
                calls: Vec::new(),
                workers: 16,
                amount: LoadAmount::Requests(400),
                rows: None,
                set: Vec::new(),
                name: Some("naive-rc".to_owned()),
                span: Span::default(),
            }),
            as_written: Plan::default(),
            variants: vec![
                variant("naive-rr", false, &[Level::RepeatableRead]),
                variant("serializable", true, &[Level::Serializable]),
                variant("for-update", true, &[]),
            ],
            is_menu: false,
        }
    }

    fn chosen(names: &[&str], levels: &[Level]) -> Result<Vec<(String, Level)>, LoadError> {
        let scenario = scenario();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let strategies = strategies(&scenario, scenario.load.as_ref().unwrap(), &names, levels)?;
        Ok(strategies.into_iter().map(|strategy| (strategy.name, strategy.level)).collect())
    }

    #[test]
    fn each_strategy_has_its_own_level() {
        let all = [
            ("naive-rc".to_owned(), Level::ReadCommitted),
            ("naive-rr".to_owned(), Level::RepeatableRead),
            ("serializable".to_owned(), Level::Serializable),
            ("for-update".to_owned(), Level::ReadCommitted),
        ];
        assert_eq!(chosen(&[], &[]).unwrap(), all);
        let serializable = chosen(&["for-update", "serializable"], &[Level::RepeatableRead]).unwrap();
        assert_eq!(serializable, [all[2].clone(), ("for-update".to_owned(), Level::RepeatableRead)]);
        assert_eq!(chosen(&["for-update"], &Level::ALL).unwrap().len(), 3);
    }

    #[test]
    fn an_unknown_name_gets_the_nearest() {
        let error = chosen(&["naive-rx"], &[]).unwrap_err().to_string();
        assert_eq!(
            error,
            "no strategy `naive-rx`, did you mean `naive-rc`?\nhelp: there are naive-rc, naive-rr, serializable, for-update"
        );
    }
}
