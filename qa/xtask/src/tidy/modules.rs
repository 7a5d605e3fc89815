//! Layers of the modules at the root of a crate: see [`arrows`](super::arrows).

use std::collections::BTreeMap;
use std::path::Path;

use super::Finding;
use super::arrows::{Use, Walk};
use super::source::{Source, Sources};
use super::table::{FILE, Layers, Table};

pub(super) fn findings(table: &Table, sources: &Sources) -> Vec<Finding> {
    let mut found = Vec::new();
    for (folder, layers) in &table.modules {
        let src = Path::new(folder.get_ref()).join("src");
        let Some(root) = sources.get(&src.join("lib.rs")) else {
            let text = format!("there is no {}/lib.rs: remove it", src.display());
            found.push(table.finding(folder, "modules", text));
            continue;
        };
        found.extend(in_layers(
            table,
            layers,
            &Walk::through(sources, root),
            root,
        ));
    }
    found
}

fn in_layers(table: &Table, layers: &Layers, walk: &Walk<'_>, root: &Source) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut layer_of = BTreeMap::new();
    for (layer, names) in layers.layers.iter().enumerate() {
        for name in names {
            layer_of.insert(name.get_ref().as_str(), layer);
            if !walk.modules.contains_key(&[name.get_ref().clone()][..]) {
                let text = format!("there is no module {}: remove it", name.get_ref());
                found.push(table.finding(name, "modules", text));
            }
        }
    }
    for (name, module) in &walk.modules {
        if let [name] = &name[..]
            && !layer_of.contains_key(name.as_str())
        {
            let text = format!("module {name} is in no layer of {FILE}: add it to one");
            found.push(root.finding(module.line, "modules", name, text));
        }
    }
    for Use {
        from,
        to,
        source,
        line,
    } in &walk.uses
    {
        let (Some(from), Some(to)) = (from.first(), to.first()) else {
            continue;
        };
        let (Some(of_from), Some(of_to)) = (layer_of.get(from.as_str()), layer_of.get(to.as_str()))
        else {
            continue;
        };
        if from != to && of_to >= of_from {
            let where_ = if of_to == of_from {
                "is in the same layer"
            } else {
                "is in a higher layer"
            };
            let text = format!(
                "module {from} uses {to}, which {where_} ({FILE}): move what they share below both, \
                 or hand it in from above"
            );
            found.push(source.finding(*line, "modules", format!("{from} -> {to}"), text));
        }
    }
    found
}
