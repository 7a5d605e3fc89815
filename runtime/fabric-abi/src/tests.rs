//! The layouts, compared with the headers where they are installed.

use core::mem::offset_of;
use std::io::Write;
use std::process::{Command, Stdio};

use hostwire_testing::{left_out, need};

use super::*;

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
            "inject_size" inject_size, "size" size, "rma_iov_limit" rma_iov_limit,
        }
        "fi_rx_attr", RxAttr { "msg_order" msg_order, "size" size, "iov_limit" iov_limit }
        "fi_ep_attr", EpAttr {
            "type" kind, "max_msg_size" max_msg_size, "max_order_waw_size" max_order_waw_size,
            "rx_ctx_cnt" rx_ctx_cnt,
        }
        "fi_domain_attr", DomainAttr {
            "name" name, "threading" threading, "resource_mgmt" resource_mgmt,
            "av_type" av_type, "mr_mode" mr_mode, "mr_key_size" mr_key_size,
            "cq_data_size" cq_data_size, "ep_cnt" ep_cnt, "cntr_cnt" cntr_cnt, "caps" caps,
        }
        "fi_fabric_attr", FabricAttr { "name" name, "prov_name" prov_name }
        "fid", Fid { "fclass" class, "ops" ops }
        "fi_ops", FidOps { "close" close, "bind" bind, "control" control, "ops_set" ops_set }
        "fid_fabric", FidFabric { "ops" ops, "api_version" api_version }
        "fi_ops_fabric", FabricOps { "domain" domain, "wait_open" wait_open, "trywait" trywait, "domain2" domain2 }
        "fi_eq_attr", EqAttr { "wait_obj" wait_obj, "wait_set" wait_set }
        "fid_eq", FidEq { "ops" ops }
        "fi_ops_eq", EqOps { "read" read, "write" write, "strerror" strerror }
        "fid_domain", FidDomain { "ops" ops, "mr" mr }
        "fi_ops_domain", DomainOps {
            "av_open" av_open, "cq_open" cq_open, "endpoint" endpoint,
            "cntr_open" cntr_open, "poll_open" poll_open, "query_atomic" query_atomic,
            "endpoint2" endpoint2,
        }
        "fi_av_attr", AvAttr { "type" kind, "count" count, "name" name, "flags" flags }
        "fid_av", FidAv { "ops" ops }
        "fi_ops_av", AvOps { "insert" insert, "lookup" lookup, "straddr" straddr, "av_set" av_set }
        "fi_cq_attr", CqAttr {
            "size" size, "format" format, "wait_obj" wait_obj, "wait_set" wait_set,
        }
        "fid_cq", FidCq { "ops" ops }
        "fi_ops_cq", CqOps { "read" read, "readerr" readerr, "sread" sread, "signal" signal, "strerror" strerror }
        "fi_cq_tagged_entry", CqTaggedEntry { "len" len, "data" data, "tag" tag }
        "fi_cq_data_entry", CqDataEntry {
            "op_context" op_context, "flags" flags, "len" len, "buf" buf, "data" data,
        }
        "fi_cq_err_entry", CqErrEntry {
            "op_context" op_context, "err" err, "prov_errno" prov_errno, "err_data" err_data,
        }
        "fid_ep", FidEp { "ops" ops, "cm" cm, "msg" msg, "rma" rma, "collective" collective,
            "tagged" tagged, "atomic" atomic,
        }
        "fi_ops_ep", EpOps { "setopt" setopt, "cancel" cancel, "tx_size_left" tx_size_left }
        "fi_msg", Msg {
            "msg_iov" msg_iov, "desc" desc, "iov_count" iov_count, "addr" addr,
            "context" context, "data" data,
        }
        "fi_ops_cm", CmOps { "getname" getname, "join" join }
        "fi_ops_msg", MsgOps { "recv" recv, "recvmsg" recvmsg, "send" send, "inject" inject, "injectdata" injectdata }
        "fi_msg_tagged", MsgTagged { "addr" addr, "tag" tag, "ignore" ignore, "data" data }
        "fi_ops_tagged", TaggedOps {
            "recvmsg" recvmsg, "sendmsg" sendmsg, "inject" inject, "injectdata" injectdata,
        }
        "fi_ops_collective", CollectiveOps { "barrier" all }
        "fi_provider", Provider { "name" name, "getinfo" getinfo, "cleanup" cleanup }
    }
}

/// Those about memory of others.
fn offsets_of_memory() -> Vec<(String, usize)> {
    fields! {
        "fi_ops_mr", MrOps { "reg" reg, "regv" regv, "regattr" regattr }
        "fid_mr", FidMr { "mem_desc" mem_desc, "key" key }
        "fi_mr_attr", MrAttr {
            "mr_iov" mr_iov, "iov_count" iov_count, "access" access, "offset" offset,
            "requested_key" requested_key, "context" context,
        }
        "fi_ioc", Ioc { "addr" addr, "count" count }
        "fi_rma_ioc", RmaIoc { "addr" addr, "count" count, "key" key }
        "fi_msg_atomic", MsgAtomic {
            "msg_iov" msg_iov, "desc" desc, "iov_count" iov_count, "addr" addr,
            "rma_iov" rma_iov, "rma_iov_count" rma_iov_count, "datatype" datatype, "op" op,
            "context" context, "data" data,
        }
        "fi_atomic_attr", AtomicAttr { "count" count, "size" size }
        "fi_ops_atomic", AtomicOps {
            "write" write, "writev" writev, "writemsg" writemsg, "inject" inject,
            "readwrite" readwrite, "readwritev" readwritev, "readwritemsg" readwritemsg,
            "compwrite" compwrite, "compwritev" compwritev, "compwritemsg" compwritemsg,
            "writevalid" writevalid, "readwritevalid" readwritevalid,
            "compwritevalid" compwritevalid,
        }
        "fi_ops_rma", RmaOps {
            "read" read, "readv" readv, "readmsg" readmsg, "write" write, "writev" writev,
            "writemsg" writemsg, "inject" inject, "writedata" writedata, "injectdata" injectdata,
        }
        "fi_rma_iov", RmaIov { "addr" addr, "len" len, "key" key }
        "fi_msg_rma", MsgRma {
            "msg_iov" msg_iov, "desc" desc, "iov_count" iov_count, "addr" addr,
            "rma_iov" rma_iov, "rma_iov_count" rma_iov_count, "context" context, "data" data,
        }
    }
}

fn offsets_of_counters_and_sets() -> Vec<(String, usize)> {
    fields! {
        "fi_cntr_attr", CntrAttr { "wait_obj" wait_obj, "wait_set" wait_set, "flags" flags }
        "fid_cntr", FidCntr { "ops" ops }
        "fi_ops_cntr", CntrOps {
            "read" read, "readerr" readerr, "add" add, "set" set, "wait" wait, "adderr" adderr,
            "seterr" seterr,
        }
        "fi_wait_attr", WaitAttr { "wait_obj" wait_obj, "flags" flags }
        "fid_wait", FidWait { "ops" ops }
        "fi_ops_wait", WaitOps { "wait" wait }
        "fi_poll_attr", PollAttr { "flags" flags }
        "fid_poll", FidPoll { "ops" ops }
        "fi_ops_poll", PollOps { "poll" poll, "poll_add" poll_add, "poll_del" poll_del }
    }
}

fn named(name: &str, value: u64) -> (String, u64) {
    (name.to_owned(), value)
}

fn numbers() -> Vec<(String, u64)> {
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

/// Those that a provider needs as well.
fn numbers_of_providers() -> Vec<(String, u64)> {
    vec![
        named("FI_TAGGED", FI_TAGGED),
        named("FI_REMOTE_CQ_DATA", FI_REMOTE_CQ_DATA),
        named("FI_MORE", FI_MORE),
        named("FI_PEEK", FI_PEEK),
        named("FI_INJECT", FI_INJECT),
        named("FI_INJECT_COMPLETE", FI_INJECT_COMPLETE),
        named("FI_TRANSMIT_COMPLETE", FI_TRANSMIT_COMPLETE),
        named("FI_LOCAL_COMM", FI_LOCAL_COMM),
        named("FI_REMOTE_COMM", FI_REMOTE_COMM),
        named("FI_SOURCE", FI_SOURCE),
        named("FI_DIRECTED_RECV", FI_DIRECTED_RECV),
        named("FI_CLAIM", FI_CLAIM),
        named("FI_DISCARD", FI_DISCARD),
        named("FI_SELECTIVE_COMPLETION", FI_SELECTIVE_COMPLETION),
        named("FI_EP_UNSPEC", FI_EP_UNSPEC as u64),
        named("FI_THREAD_UNSPEC", FI_THREAD_UNSPEC as u64),
        named("FI_THREAD_SAFE", FI_THREAD_SAFE as u64),
        named("FI_PROGRESS_UNSPEC", FI_PROGRESS_UNSPEC as u64),
        named("FI_PROGRESS_MANUAL", FI_PROGRESS_MANUAL as u64),
        named("FI_AV_UNSPEC", FI_AV_UNSPEC as u64),
        named("FI_AV_MAP", FI_AV_MAP as u64),
        named("FI_AV_TABLE", FI_AV_TABLE as u64),
        named("FI_CQ_FORMAT_UNSPEC", FI_CQ_FORMAT_UNSPEC as u64),
        named("FI_CQ_FORMAT_CONTEXT", FI_CQ_FORMAT_CONTEXT as u64),
        named("FI_CQ_FORMAT_MSG", FI_CQ_FORMAT_MSG as u64),
        named("FI_CQ_FORMAT_TAGGED", FI_CQ_FORMAT_TAGGED as u64),
        named("FI_WAIT_UNSPEC", FI_WAIT_UNSPEC as u64),
        named("FI_FORMAT_UNSPEC", FI_FORMAT_UNSPEC as u64),
        named("FI_PROV_SPECIFIC", FI_PROV_SPECIFIC as u64),
        named("FI_CLASS_FABRIC", FI_CLASS_FABRIC as u64),
        named("FI_CLASS_DOMAIN", FI_CLASS_DOMAIN as u64),
        named("FI_CLASS_EP", FI_CLASS_EP as u64),
        named("FI_CLASS_AV", FI_CLASS_AV as u64),
        named("FI_CLASS_EQ", FI_CLASS_EQ as u64),
        named("FI_CLASS_CQ", FI_CLASS_CQ as u64),
        named("FI_CLASS_CNTR", FI_CLASS_CNTR as u64),
        named("FI_CLASS_WAIT", FI_CLASS_WAIT as u64),
        named("FI_CLASS_POLL", FI_CLASS_POLL as u64),
        named("FI_WAIT_SET", FI_WAIT_SET as u64),
        named("FI_WAIT_MUTEX_COND", FI_WAIT_MUTEX_COND as u64),
        named("FI_WAIT_YIELD", FI_WAIT_YIELD as u64),
        named("FI_GETWAITOBJ", FI_GETWAITOBJ as u64),
        named("FI_PROGRESS_AUTO", FI_PROGRESS_AUTO as u64),
        named("FI_GETOPSFLAG", FI_GETOPSFLAG as u64),
        named("FI_SETOPSFLAG", FI_SETOPSFLAG as u64),
        named("FI_NAME_MAX", FI_NAME_MAX as u64),
        named("FI_ETOOSMALL", FI_ETOOSMALL as u64),
        named("FI_ETRUNC", FI_ETRUNC as u64),
        named("FI_ENODATA", FI_ENODATA as u64),
        named("FI_ENOMSG", FI_ENOMSG as u64),
    ]
}

/// Those about memory of others.
fn numbers_of_memory() -> Vec<(String, u64)> {
    vec![
        named("FI_ATOMIC", FI_ATOMIC),
        named("FI_RMA_EVENT", FI_RMA_EVENT),
        named("FI_FETCH_ATOMIC", FI_FETCH_ATOMIC),
        named("FI_COMPARE_ATOMIC", FI_COMPARE_ATOMIC),
        named("FI_ORDER_STRICT", FI_ORDER_STRICT),
        named("FI_ORDER_RMA_RAR", FI_ORDER_RMA_RAR),
        named("FI_ORDER_ATOMIC_WAW", FI_ORDER_ATOMIC_WAW),
        named("FI_MR_BASIC", FI_MR_BASIC as u64),
        named("FI_MR_SCALABLE", FI_MR_SCALABLE as u64),
        named("FI_CLASS_MR", FI_CLASS_MR as u64),
        named("FI_ENOKEY", FI_ENOKEY as u64),
    ]
}

/// The values of some expressions in C; `None` without a compiler or the headers.
fn as_c_says(expressions: &[&str]) -> Option<Vec<u64>> {
    let prints: Vec<String> = expressions
        .iter()
        .map(|it| format!("printf(\"%llu\\n\", (unsigned long long)({it}));\n"))
        .collect();
    let source = format!(
        "#include <stddef.h>\n#include <stdio.h>\n#include <rdma/fabric.h>\n\
         #include <rdma/fi_cm.h>\n#include <rdma/fi_domain.h>\n#include <rdma/fi_endpoint.h>\n\
         #include <rdma/fi_eq.h>\n#include <rdma/fi_atomic.h>\n\
         #include <rdma/fi_collective.h>\n#include <rdma/fi_tagged.h>\n\
         #include <rdma/providers/fi_prov.h>\n#include <rdma/fi_errno.h>\n#include <rdma/fi_rma.h>\n\
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
    let offsets = [
        offsets(),
        offsets_of_memory(),
        offsets_of_counters_and_sets(),
    ]
    .concat();
    let offsets = offsets.into_iter().map(|(name, at)| (name, at as u64));
    let all: Vec<(String, u64)> = offsets
        .chain(numbers())
        .chain(numbers_of_providers())
        .chain(numbers_of_memory())
        .collect();
    let expressions: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    if let Some(said) = as_c_says(&expressions) {
        let names = expressions.iter().map(|name| (*name).to_owned());
        assert_eq!(all, names.zip(said).collect::<Vec<_>>());
    }
}
