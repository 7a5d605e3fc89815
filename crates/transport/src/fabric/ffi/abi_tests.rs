//! The layouts, compared with the headers where they are installed.

use core::mem::offset_of;
use std::io::Write;
use std::process::{Command, Stdio};

use hostwire_testing::{left_out, need};

use super::abi::*;

/// `[(text, offset), ...]` of fields: as C names them, and where they are here.
macro_rules! fields {
    ($($c:literal, $rust:ty { $($name:literal $field:ident),* $(,)? })*) => {
        vec![$($((
            format!("offsetof(struct {}, {})", $c, $name),
            offset_of!($rust, $field),
        ),)*)*]
    };
}

fn offsets() -> Vec<(String, usize)> {
    fields! {
        "fi_info", RawInfo {
            "next" next, "caps" caps, "mode" mode, "addr_format" addr_format,
            "src_addrlen" src_addrlen, "src_addr" src_addr, "handle" handle,
            "tx_attr" tx_attr, "rx_attr" rx_attr, "ep_attr" ep_attr,
            "domain_attr" domain_attr, "fabric_attr" fabric_attr,
        }
        "fi_tx_attr", TxAttr {
            "caps" caps, "op_flags" op_flags, "msg_order" msg_order,
            "inject_size" inject_size, "size" size,
        }
        "fi_rx_attr", RxAttr { "msg_order" msg_order, "size" size }
        "fi_ep_attr", EpAttr {
            "type" kind, "max_msg_size" max_msg_size, "max_order_waw_size" max_order_waw_size,
        }
        "fi_domain_attr", DomainAttr {
            "name" name, "threading" threading, "resource_mgmt" resource_mgmt,
            "av_type" av_type, "mr_mode" mr_mode, "mr_key_size" mr_key_size,
        }
        "fi_fabric_attr", FabricAttr { "name" name, "prov_name" prov_name }
        "fid", Fid { "fclass" class, "ops" ops }
        "fi_ops", FidOps { "close" close, "bind" bind, "control" control }
        "fid_fabric", FidFabric { "ops" ops }
        "fi_ops_fabric", FabricOps { "domain" domain, "trywait" trywait }
        "fid_domain", FidDomain { "ops" ops, "mr" mr }
        "fi_ops_domain", DomainOps {
            "av_open" av_open, "cq_open" cq_open, "endpoint" endpoint,
        }
        "fi_ops_mr", MrOps { "reg" reg }
        "fid_mr", FidMr { "mem_desc" mem_desc, "key" key }
        "fi_av_attr", AvAttr { "type" kind, "count" count, "name" name, "flags" flags }
        "fid_av", FidAv { "ops" ops }
        "fi_ops_av", AvOps { "insert" insert }
        "fi_cq_attr", CqAttr {
            "size" size, "format" format, "wait_obj" wait_obj, "wait_set" wait_set,
        }
        "fid_cq", FidCq { "ops" ops }
        "fi_ops_cq", CqOps { "read" read, "readerr" readerr }
        "fi_cq_data_entry", CqDataEntry {
            "op_context" op_context, "flags" flags, "len" len, "buf" buf, "data" data,
        }
        "fi_cq_err_entry", CqErrEntry {
            "op_context" op_context, "err" err, "prov_errno" prov_errno, "err_data" err_data,
        }
        "fid_ep", FidEp { "ops" ops, "cm" cm, "msg" msg, "rma" rma }
        "fi_ops_ep", EpOps { "setopt" setopt }
        "fi_msg", Msg {
            "msg_iov" msg_iov, "desc" desc, "iov_count" iov_count, "addr" addr,
            "context" context, "data" data,
        }
        "fi_ops_cm", CmOps { "getname" getname }
        "fi_ops_msg", MsgOps { "recv" recv, "recvmsg" recvmsg, "send" send, "inject" inject }
        "fi_ops_rma", RmaOps { "read" read, "writemsg" writemsg, "inject" inject }
        "fi_rma_iov", RmaIov { "addr" addr, "len" len, "key" key }
        "fi_msg_rma", MsgRma {
            "msg_iov" msg_iov, "desc" desc, "iov_count" iov_count, "addr" addr,
            "rma_iov" rma_iov, "rma_iov_count" rma_iov_count, "context" context, "data" data,
        }
    }
}

fn numbers() -> Vec<(String, u64)> {
    let named = |name: &str, value: u64| (name.to_owned(), value);
    vec![
        named("FI_MSG", FI_MSG),
        named("FI_RMA", FI_RMA),
        named("FI_READ", FI_READ),
        named("FI_WRITE", FI_WRITE),
        named("FI_RECV", FI_RECV),
        named("FI_SEND", FI_SEND),
        named("FI_MULTI_RECV", FI_MULTI_RECV),
        named("FI_REMOTE_READ", FI_REMOTE_READ),
        named("FI_REMOTE_WRITE", FI_REMOTE_WRITE),
        named("FI_COMPLETION", FI_COMPLETION),
        named("FI_DELIVERY_COMPLETE", FI_DELIVERY_COMPLETE),
        named("FI_CONTEXT", FI_CONTEXT),
        named("FI_CONTEXT2", FI_CONTEXT2),
        named("FI_ORDER_WAW", FI_ORDER_WAW),
        named("FI_ORDER_SAW", FI_ORDER_SAW),
        named("FI_ORDER_SAS", FI_ORDER_SAS),
        named("FI_MR_LOCAL", FI_MR_LOCAL as u64),
        named("FI_MR_VIRT_ADDR", FI_MR_VIRT_ADDR as u64),
        named("FI_MR_ALLOCATED", FI_MR_ALLOCATED as u64),
        named("FI_MR_PROV_KEY", FI_MR_PROV_KEY as u64),
        named("FI_MR_ENDPOINT", FI_MR_ENDPOINT as u64),
        named("FI_EP_RDM", FI_EP_RDM as u64),
        named("FI_THREAD_DOMAIN", FI_THREAD_DOMAIN as u64),
        named("FI_RM_ENABLED", FI_RM_ENABLED as u64),
        named("FI_CQ_FORMAT_DATA", FI_CQ_FORMAT_DATA as u64),
        named("FI_WAIT_NONE", FI_WAIT_NONE as u64),
        named("FI_WAIT_FD", FI_WAIT_FD as u64),
        named("FI_SOCKADDR_IN", u64::from(FI_SOCKADDR_IN)),
        named("FI_OPT_ENDPOINT", FI_OPT_ENDPOINT as u64),
        named("FI_OPT_MIN_MULTI_RECV", FI_OPT_MIN_MULTI_RECV as u64),
        named("FI_GETWAIT", FI_GETWAIT as u64),
        named("FI_ENABLE", FI_ENABLE as u64),
        named("FI_EAVAIL", FI_EAVAIL as u64),
        named("FI_ADDR_UNSPEC", FI_ADDR_UNSPEC),
        named("sizeof(struct fi_context2)", CONTEXT_BYTES as u64),
    ]
}

/// What C says of some expressions; `None` without a compiler or the headers.
fn as_c_says(expressions: &[&str]) -> Option<Vec<u64>> {
    let prints: Vec<String> = expressions
        .iter()
        .map(|it| format!("printf(\"%llu\\n\", (unsigned long long)({it}));\n"))
        .collect();
    let source = format!(
        "#include <stddef.h>\n#include <stdio.h>\n#include <rdma/fabric.h>\n\
         #include <rdma/fi_cm.h>\n#include <rdma/fi_domain.h>\n#include <rdma/fi_endpoint.h>\n\
         #include <rdma/fi_eq.h>\n#include <rdma/fi_errno.h>\n#include <rdma/fi_rma.h>\n\
         int main(void) {{\n{}return 0;\n}}\n",
        prints.concat()
    );
    let program = std::env::temp_dir().join(format!("hostwire-fabric-{}", std::process::id()));
    let mut compiler = Command::new("cc");
    compiler.args(["-x", "c", "-", "-o"]).arg(&program);
    compiler.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut compiling = match compiler.spawn() {
        Ok(compiling) => compiling,
        Err(error) => {
            left_out(&need::C, error);
            return None;
        }
    };
    let mut input = compiling.stdin.take()?;
    input.write_all(source.as_bytes()).unwrap();
    drop(input);
    let compiled = compiling.wait_with_output().unwrap();
    if !compiled.status.success() {
        let said = String::from_utf8_lossy(&compiled.stderr).into_owned();
        assert!(said.contains("rdma/fabric.h: No such file"), "{said}");
        left_out(&need::LIBFABRIC_HEADERS, "no rdma/fabric.h");
        return None;
    }
    let output = Command::new(&program).output().unwrap();
    std::fs::remove_file(&program).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| line.parse().unwrap()).collect())
}

#[test]
fn layouts_and_numbers_are_those_of_the_headers() {
    let offsets = offsets().into_iter().map(|(name, at)| (name, at as u64));
    let all: Vec<(String, u64)> = offsets.chain(numbers()).collect();
    let expressions: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    if let Some(said) = as_c_says(&expressions) {
        let names = expressions.iter().map(|name| (*name).to_owned());
        assert_eq!(all, names.zip(said).collect::<Vec<_>>());
    }
}
