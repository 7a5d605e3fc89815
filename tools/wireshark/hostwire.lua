-- HyperTransport and HToE for Wireshark and tshark.
--
--   tshark -X lua_script:tools/wireshark/hostwire.lua -r capture.pcapng
--
-- HyperTransport packets come on link type USER0 (147), one packet per record,
-- without CRC, as hostwire-sim writes them. TLPs of PCI Express come on USER1 (148), with number
-- and LCRC, and frames between HTX boards on USER2 (149) (layout: docs/sim/recordings.md). HToE comes in Ethernet frames with
-- EtherType 0x88B5 (layout: docs/wire/htoe.md); encrypted ones (docs/wire/sealed.md) are
-- labelled, with who sends to whom.

local ht = Proto("hypertransport", "HyperTransport")
local htoe = Proto("htoe", "HyperTransport over Ethernet")
local board = Proto("htxboard", "Frame between HTX boards")
local tlp = Proto("pcietlp", "PCI Express TLP")

local ETHERTYPE_HTOE = 0x88B5

local f = {
  command = ProtoField.uint8("hypertransport.command", "Command", base.HEX),
  name = ProtoField.string("hypertransport.name", "Packet"),
  channel = ProtoField.string("hypertransport.channel", "Virtual channel"),
  unit_id = ProtoField.uint8("hypertransport.unit_id", "UnitID", base.DEC),
  seq_id = ProtoField.uint8("hypertransport.seq_id", "SeqID", base.DEC),
  pass_pw = ProtoField.bool("hypertransport.pass_pw", "PassPW"),
  src_tag = ProtoField.uint8("hypertransport.src_tag", "SrcTag", base.DEC),
  count = ProtoField.uint8("hypertransport.count", "Mask/Count", base.DEC),
  address = ProtoField.uint64("hypertransport.address", "Address", base.HEX),
  mask = ProtoField.uint32("hypertransport.mask", "Byte mask", base.HEX),
  data = ProtoField.bytes("hypertransport.data", "Data"),
  status = ProtoField.string("hypertransport.status", "Status"),
  bridge = ProtoField.bool("hypertransport.bridge", "Bridge"),
  post_cmd = ProtoField.uint8("hypertransport.nop.post_cmd", "Posted commands freed"),
  post_data = ProtoField.uint8("hypertransport.nop.post_data", "Posted data freed"),
  resp_cmd = ProtoField.uint8("hypertransport.nop.resp_cmd", "Response commands freed"),
  resp_data = ProtoField.uint8("hypertransport.nop.resp_data", "Response data freed"),
  nonpost_cmd = ProtoField.uint8("hypertransport.nop.nonpost_cmd", "Non-posted commands freed"),
  nonpost_data = ProtoField.uint8("hypertransport.nop.nonpost_data", "Non-posted data freed"),
  ack = ProtoField.uint8("hypertransport.nop.ack", "Next packet to acknowledge"),
}
ht.fields = f
local truncated = ProtoExpert.new("hypertransport.truncated", "Packet is cut off",
  expert.group.MALFORMED, expert.severity.ERROR)
ht.experts = { truncated }

local s = {
  version = ProtoField.uint8("htoe.sealed.version", "Version", base.DEC, nil, 0xF0),
  kind = ProtoField.uint8("htoe.sealed.type", "Type", base.DEC, { [5] = "sealed" }, 0x0F),
  destination = ProtoField.uint32("htoe.sealed.destination", "Destination node"),
  source = ProtoField.uint32("htoe.sealed.source", "Source node"),
  number = ProtoField.uint64("htoe.sealed.number", "Frame number"),
  frame = ProtoField.bytes("htoe.sealed.frame", "Encrypted frame"),
  tag = ProtoField.bytes("htoe.sealed.tag", "Tag"),
}

local h = {
  version = ProtoField.uint8("htoe.version", "Version", base.DEC, nil, 0xF0),
  kind = ProtoField.uint8("htoe.type", "Type", base.DEC,
    { [1] = "data", [2] = "ack", [3] = "reset", [4] = "close" }, 0x0F),
  ack_valid = ProtoField.bool("htoe.flags.ack", "ACK valid", 8, nil, 0x01),
  nak = ProtoField.bool("htoe.flags.nak", "NAK", 8, nil, 0x02),
  syn = ProtoField.bool("htoe.flags.syn", "SYN", 8, nil, 0x04),
  ack_wanted = ProtoField.bool("htoe.flags.ack_wanted", "ACK wanted", 8, nil, 0x08),
  marked = ProtoField.bool("htoe.flags.marked", "Marked", 8, nil, 0x10),
  link = ProtoField.uint16("htoe.virtual_link", "Virtual link"),
  seq = ProtoField.uint16("htoe.seq", "SEQ"),
  ack = ProtoField.uint16("htoe.ack", "ACK"),
  packets = ProtoField.uint8("htoe.packets", "Packets"),
  nops = ProtoField.uint8("htoe.nops", "NOPs"),
  length = ProtoField.uint16("htoe.payload_length", "Payload length"),
  hcrc = ProtoField.uint16("htoe.hcrc", "Header CRC", base.HEX),
  key = ProtoField.uint16("htoe.key", "Key", base.HEX),
  job = ProtoField.uint64("htoe.session.job", "Job", base.HEX),
  source_incarnation = ProtoField.uint64("htoe.session.source_incarnation", "Source incarnation"),
  destination_incarnation = ProtoField.uint64("htoe.session.destination_incarnation",
    "Destination incarnation"),
  source_node = ProtoField.uint32("htoe.session.source_node", "Source node"),
  destination_node = ProtoField.uint32("htoe.session.destination_node", "Destination node"),
  session_link = ProtoField.uint16("htoe.session.virtual_link", "Virtual link given out"),
  session_key = ProtoField.uint16("htoe.session.key", "Key given out", base.HEX),
  frame_len_max = ProtoField.uint16("htoe.session.frame_len_max", "Longest frame taken"),
  heard_len = ProtoField.uint16("htoe.session.heard_len", "Longest reset frame heard"),
  posted = ProtoField.uint16("htoe.session.posted", "Posted buffers"),
  non_posted = ProtoField.uint16("htoe.session.non_posted", "Non-posted buffers"),
  response = ProtoField.uint16("htoe.session.response", "Response buffers"),
  ready = ProtoField.bool("htoe.session.ready", "Ready", 8, nil, 0x01),
  reason = ProtoField.uint8("htoe.session.reason", "Reason", base.DEC, { [0] = "none",
    [1] = "finished", [2] = "credit overrun", [3] = "credit excess", [4] = "malformed",
    [5] = "silent", [6] = "misused" }),
  crc = ProtoField.uint32("htoe.crc", "CRC-32", base.HEX),
  burst_lines = ProtoField.uint8("htoe.burst.lines", "Lines of 64 bytes"),
  burst_address = ProtoField.uint64("htoe.burst.address", "Address of the first", base.HEX),
  burst_data = ProtoField.bytes("htoe.burst.data", "Data"),
}
for name, field in pairs(s) do h["sealed_" .. name] = field end
htoe.fields = h

local b = {
  form = ProtoField.uint8("htxboard.form", "Form", base.DEC,
    { [0] = "acknowledgement", [1] = "message", [2] = "HyperTransport packet" }),
  rejects = ProtoField.bool("htxboard.rejects", "Rejects", 8, nil, 0x01),
  damaged = ProtoField.bool("htxboard.damaged", "Damaged", 8, nil, 0x02),
  destination = ProtoField.uint16("htxboard.destination", "Destination board"),
  source = ProtoField.uint16("htxboard.source", "Source board"),
  seq = ProtoField.uint16("htxboard.seq", "SEQ"),
  ack = ProtoField.uint16("htxboard.ack", "ACK"),
  message = ProtoField.bytes("htxboard.message", "Message"),
}
board.fields = b

-- What a command is: name, virtual channel, form of its first dwords.
local function describe(cmd)
  if cmd == 0x00 then return "NOP", nil, "nop" end
  if cmd == 0x3F then return "Sync", nil, "bare" end
  if cmd == 0x37 then return "Extended flow control", nil, "extfc" end
  if cmd == 0x30 then return "Read response", "response", "response" end
  if cmd == 0x33 then return "Target done", "response", "response" end
  if cmd == 0x02 then return "Flush", "non-posted", "bare" end
  if cmd == 0x3C then return "Fence", "posted", "bare" end
  if cmd == 0x3A then return "Broadcast", "posted", "request" end
  if cmd == 0x3D then return "Atomic", "non-posted", "request" end
  if cmd == 0x3E then return "Address extension", nil, "extension" end
  if bit.band(cmd, 0x38) == 0x28 then return "Posted write", "posted", "request" end
  if bit.band(cmd, 0x38) == 0x08 then return "Non-posted write", "non-posted", "request" end
  if bit.band(cmd, 0x30) == 0x10 then return "Read", "non-posted", "request" end
  return "Reserved", nil, "bare"
end

local function bits(value, high, low)
  return bit.band(bit.rshift(value, low), bit.lshift(1, high - low + 1) - 1)
end

-- Dissects one packet at `at`. Returns its length and a summary, or nil if the
-- buffer ends within it.
local function packet(buf, at, tree)
  local left = buf:len() - at
  if left < 4 then return nil end
  local first = buf(at, 4):le_uint()
  local cmd = bits(first, 5, 0)
  local head = 0
  local high = UInt64(0, 0)
  if cmd == 0x3E then
    if left < 12 then return nil end
    -- Address [63:40] in [31:8].
    high = UInt64(0, bit.lshift(bits(first, 31, 8), 8))
    head = 4
    first = buf(at + 4, 4):le_uint()
    cmd = bits(first, 5, 0)
  end
  local name, channel, form = describe(cmd)
  local len = head + 4
  if form == "request" then len = head + 8 end
  if form == "extfc" and bits(first, 6, 6) == 1 then len = 8 end
  if left < len then return nil end

  local count = bits(first, 25, 22)
  local data, masked = 0, false
  local write = bit.band(cmd, 0x18) == 0x08 and bit.band(cmd, 0x30) ~= 0x30
  if write or cmd == 0x30 or cmd == 0x3D then data = 4 * (count + 1) end
  if write and bits(cmd, 2, 2) == 0 then masked = true end
  if left < len + data then return nil end

  local sub = tree:add(ht, buf(at, len + data))
  sub:add(f.command, buf(at + head, 1), cmd)
  sub:add(f.name, buf(at + head, 1), name)
  if channel then sub:add(f.channel, buf(at + head, 1), channel) end
  local text = name

  if form == "nop" then
    sub:add(f.post_cmd, buf(at, 4), bits(first, 9, 8))
    sub:add(f.post_data, buf(at, 4), bits(first, 11, 10))
    sub:add(f.resp_cmd, buf(at, 4), bits(first, 13, 12))
    sub:add(f.resp_data, buf(at, 4), bits(first, 15, 14))
    sub:add(f.nonpost_cmd, buf(at, 4), bits(first, 17, 16))
    sub:add(f.nonpost_data, buf(at, 4), bits(first, 19, 18))
    sub:add(f.ack, buf(at, 4), bits(first, 31, 24))
    text = string.format("NOP P %d/%d NP %d/%d R %d/%d", bits(first, 9, 8), bits(first, 11, 10),
      bits(first, 17, 16), bits(first, 19, 18), bits(first, 13, 12), bits(first, 15, 14))
  elseif form == "request" or form == "response" then
    sub:add(f.unit_id, buf(at + head, 4), bits(first, 12, 8))
    sub:add(f.pass_pw, buf(at + head, 4), bits(first, 15, 15) == 1)
    if channel ~= "posted" then sub:add(f.src_tag, buf(at + head, 4), bits(first, 20, 16)) end
    sub:add(f.count, buf(at + head, 4), count)
  end
  if form == "request" then
    sub:add(f.seq_id, buf(at + head, 4), bits(first, 7, 6) * 4 + bits(first, 14, 13))
    local word = buf(at + head + 4, 4):le_uint()
    local low = UInt64(bit.lshift(bits(first, 31, 26), 2)) + UInt64(word, 0):lshift(8)
    local address = high + low
    sub:add(f.address, buf(at, len), address)
    text = string.format("%s 0x%s", name, address:tohex():gsub("^0+(%x)", "%1"))
  end
  if form == "response" then
    sub:add(f.bridge, buf(at, 4), bits(first, 14, 14) == 1)
    local errors = bits(first, 21, 21) * 2 + bits(first, 29, 29)
    local status = ({ [0] = "normal", "data error", "target abort", "master abort" })[errors]
    sub:add(f.status, buf(at, 4), status)
    text = string.format("%s tag %d, %s", name, bits(first, 20, 16), status)
  end
  local from = at + len
  if masked then
    sub:add_le(f.mask, buf(from, 4))
    from = from + 4
    data = data - 4
    len = len + 4
  end
  if data > 0 then
    sub:add(f.data, buf(from, data))
    text = string.format("%s, %d bytes", text, data)
  end
  sub:append_text(": " .. text)
  return len + data, text
end

function ht.dissector(buf, pinfo, tree)
  pinfo.cols.protocol = "HT"
  local len, text = packet(buf, 0, tree)
  if not len then
    tree:add(ht, buf()):add_proto_expert_info(truncated)
    pinfo.cols.info = "truncated HyperTransport packet"
    return buf:len()
  end
  pinfo.cols.info = text
  return len
end

-- Payload of reset and close frames.
local function session(buf, tree)
  tree:add(h.job, buf(16, 8))
  tree:add(h.source_incarnation, buf(24, 8))
  tree:add(h.destination_incarnation, buf(32, 8))
  tree:add(h.source_node, buf(40, 4))
  tree:add(h.destination_node, buf(44, 4))
  tree:add(h.session_link, buf(48, 2))
  tree:add(h.session_key, buf(50, 2))
  tree:add(h.frame_len_max, buf(52, 2))
  tree:add(h.heard_len, buf(54, 2))
  tree:add(h.posted, buf(56, 2))
  tree:add(h.non_posted, buf(58, 2))
  tree:add(h.response, buf(60, 2))
  tree:add(h.ready, buf(62, 1))
  tree:add(h.reason, buf(63, 1))
end

-- A frame that is encrypted as a whole (layout: docs/wire/sealed.md). Nobody but the PEs
-- of its job can read what is in it.
local SEALED = 0x15
local SEALED_HEADER, SEALED_TAG = 20, 16

local function sealed(buf, pinfo, tree)
  local len = buf:len()
  local sub = tree:add(htoe, buf(), "HyperTransport over Ethernet, encrypted")
  if len < SEALED_HEADER + SEALED_TAG then
    sub:add_proto_expert_info(truncated)
    return len
  end
  sub:add(s.version, buf(0, 1))
  sub:add(s.kind, buf(0, 1))
  sub:add(s.destination, buf(4, 4))
  sub:add(s.source, buf(8, 4))
  sub:add(s.number, buf(12, 8))
  local inner = len - SEALED_HEADER - SEALED_TAG
  if inner > 0 then sub:add(s.frame, buf(SEALED_HEADER, inner)) end
  sub:add(s.tag, buf(len - SEALED_TAG, SEALED_TAG))
  pinfo.cols.info = string.format("Encrypted frame %s of node %d to node %d, %d bytes",
    tostring(buf(12, 8):uint64()), buf(8, 4):uint(), buf(4, 4):uint(), inner)
  return len
end

-- A command that HyperTransport reserves.
local BURST = 0x24

-- Many lines behind one control packet, which HyperTransport has not. Returns its length, 0 if
-- this is none, or nil if the buffer ends within it.
local function burst(buf, at, tree)
  if buf:len() - at < 8 then return 0 end
  local first = buf(at, 4):le_uint()
  if bits(first, 5, 0) ~= BURST then return 0 end
  local lines = bits(first, 15, 8)
  local len = 8 + 64 * lines
  if buf:len() - at < len then return nil end
  local low = UInt64(bit.lshift(bits(first, 31, 26), 2))
  local address = low + UInt64(buf(at + 4, 4):le_uint(), 0):lshift(8)
  local sub = tree:add(htoe, buf(at, len), "Burst of posted writes")
  sub:add(h.burst_lines, buf(at + 1, 1))
  sub:add(h.burst_address, buf(at, 8), address)
  if lines > 0 then sub:add(h.burst_data, buf(at + 8, len - 8)) end
  sub:append_text(string.format(": 0x%s, %d lines", address:tohex():gsub("^0+(%x)", "%1"), lines))
  return len
end

function htoe.dissector(buf, pinfo, tree)
  pinfo.cols.protocol = "HToE"
  if buf:len() > 0 and buf(0, 1):uint() == SEALED then return sealed(buf, pinfo, tree) end
  if buf:len() < 20 then
    tree:add(htoe, buf()):add_proto_expert_info(truncated)
    return buf:len()
  end
  local sub = tree:add(htoe, buf(0, 16))
  sub:add(h.version, buf(0, 1))
  sub:add(h.kind, buf(0, 1))
  sub:add(h.ack_valid, buf(1, 1))
  sub:add(h.nak, buf(1, 1))
  sub:add(h.syn, buf(1, 1))
  sub:add(h.ack_wanted, buf(1, 1))
  sub:add(h.marked, buf(1, 1))
  sub:add(h.link, buf(2, 2))
  sub:add(h.seq, buf(4, 2))
  sub:add(h.ack, buf(6, 2))
  sub:add(h.packets, buf(8, 1))
  sub:add(h.nops, buf(9, 1))
  sub:add(h.length, buf(10, 2))
  sub:add(h.hcrc, buf(12, 2))
  sub:add(h.key, buf(14, 2))
  local length = buf(10, 2):uint()
  local stop = math.min(16 + length, buf:len())
  local kind = bits(buf(0, 1):uint(), 3, 0)
  if kind == 3 or kind == 4 then
    if stop < 64 then
      sub:add(buf(16), "cut off"):add_proto_expert_info(truncated)
      return buf:len()
    end
    session(buf, sub)
    if buf:len() >= stop + 4 then sub:add(h.crc, buf(stop, 4)) end
    pinfo.cols.info = string.format("%s node %d to node %d", kind == 3 and "Reset" or "Close",
      buf(40, 4):uint(), buf(44, 4):uint())
    return buf:len()
  end
  local at = 16
  local view = buf(0, stop):tvb()
  while at < stop do
    local len = burst(view, at, sub)
    if len == 0 then len = packet(view, at, sub) end
    if not len then
      sub:add(buf(at, stop - at), "cut off"):add_proto_expert_info(truncated)
      break
    end
    at = at + len
  end
  if buf:len() >= stop + 4 then sub:add(h.crc, buf(stop, 4)) end
  pinfo.cols.info = string.format("SEQ %d ACK %d, %d packets, %d NOPs", buf(4, 2):uint(),
    buf(6, 2):uint(), buf(8, 1):uint(), buf(9, 1):uint())
  return buf:len()
end

-- A frame between HTX boards: its header, then a message or a packet.
local BOARD_HEADER = 10

function board.dissector(buf, pinfo, tree)
  pinfo.cols.protocol = "HTX"
  local sub = tree:add(board, buf(0, math.min(BOARD_HEADER, buf:len())))
  if buf:len() < BOARD_HEADER then
    sub:add_proto_expert_info(truncated)
    return buf:len()
  end
  local form, rejects = buf(0, 1):uint(), bit.band(buf(1, 1):uint(), 1) == 1
  sub:add(b.form, buf(0, 1))
  sub:add(b.rejects, buf(1, 1))
  sub:add(b.damaged, buf(1, 1))
  if form ~= 0 then
    sub:add(b.destination, buf(2, 2))
    sub:add(b.source, buf(4, 2))
    sub:add(b.seq, buf(6, 2))
  end
  sub:add(b.ack, buf(8, 2))
  local text = rejects and "Rejection" or "Acknowledgement"
  if form == 1 then
    local len = buf:len() - BOARD_HEADER
    if len > 0 then sub:add(b.message, buf(BOARD_HEADER)) end
    text = string.format("Message, %d bytes", len)
  elseif form == 2 then
    local _, summary = packet(buf, BOARD_HEADER, tree)
    if not summary then sub:add_proto_expert_info(truncated) end
    text = summary or "cut off"
  end
  if form ~= 0 then
    pinfo.cols.src = "board " .. buf(4, 2):uint()
    pinfo.cols.dst = "board " .. buf(2, 2):uint()
  end
  pinfo.cols.info = string.format("%s, ACK %d", text, buf(8, 2):uint())
  return buf:len()
end

local t = {
  number = ProtoField.uint16("pcietlp.number", "Number"),
  name = ProtoField.string("pcietlp.name", "TLP"),
  requester = ProtoField.uint16("pcietlp.requester", "Requester", base.HEX),
  completer = ProtoField.uint16("pcietlp.completer", "Completer", base.HEX),
  tag = ProtoField.uint8("pcietlp.tag", "Tag"),
  dwords = ProtoField.uint16("pcietlp.dwords", "Dwords"),
  address = ProtoField.uint64("pcietlp.address", "Address", base.HEX),
  status = ProtoField.uint8("pcietlp.status", "Status", base.DEC,
    { [0] = "successful", [1] = "unsupported request", [4] = "completer abort" }),
  data = ProtoField.bytes("pcietlp.data", "Data"),
  lcrc = ProtoField.uint32("pcietlp.lcrc", "LCRC", base.HEX),
}
tlp.fields = t

-- A TLP as it is on a link: number, header, data, LCRC.
local TLP_NUMBER, TLP_LCRC = 2, 4

function tlp.dissector(buf, pinfo, tree)
  pinfo.cols.protocol = "PCIe"
  local sub = tree:add(tlp, buf())
  local format = buf:len() > TLP_NUMBER and bits(buf(TLP_NUMBER, 1):uint(), 7, 5) or 0
  local header = bit.band(format, 1) == 1 and 16 or 12
  if buf:len() < TLP_NUMBER + header + TLP_LCRC then
    sub:add_proto_expert_info(truncated)
    return buf:len()
  end
  local first, second = buf(2, 4):uint(), buf(6, 4):uint()
  local kind, has_data = bits(first, 28, 24), bit.band(format, 2) == 2
  local dwords = bits(first, 9, 0)
  if dwords == 0 then dwords = 1024 end
  local name, text = "TLP", "TLP"
  sub:add(t.number, buf(0, 2), bits(buf(0, 2):uint(), 11, 0))
  sub:add(t.dwords, buf(4, 2), dwords)
  if kind == 0 then
    name = has_data and "Memory write" or "Memory read"
    local address = UInt64(bit.band(buf(header - 2, 4):uint(), 0xfffffffc), 0)
    if header == 16 then address = UInt64(buf(14, 4):uint(), buf(10, 4):uint()) end
    sub:add(t.requester, buf(6, 2))
    sub:add(t.tag, buf(8, 1))
    sub:add(t.address, buf(10, header - 8), address)
    text = string.format("%s 0x%s", name, address:tohex():gsub("^0+(%x)", "%1"))
  elseif kind == 10 then
    name = has_data and "Completion with data" or "Completion"
    sub:add(t.completer, buf(6, 2))
    sub:add(t.status, buf(8, 1), bits(second, 15, 13))
    sub:add(t.requester, buf(10, 2))
    sub:add(t.tag, buf(12, 1))
    text = string.format("%s tag %d", name, buf(12, 1):uint())
  end
  sub:add(t.name, buf(2, 1), name)
  local from = TLP_NUMBER + header
  local len = buf:len() - from - TLP_LCRC
  if has_data and len > 0 then
    sub:add(t.data, buf(from, len))
    text = string.format("%s, %d bytes", text, len)
  end
  sub:add_le(t.lcrc, buf(buf:len() - TLP_LCRC, TLP_LCRC))
  sub:append_text(": " .. text)
  pinfo.cols.info = text
  return buf:len()
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, ht)
DissectorTable.get("wtap_encap"):add(wtap.USER1, tlp)
DissectorTable.get("wtap_encap"):add(wtap.USER2, board)
DissectorTable.get("ethertype"):add(ETHERTYPE_HTOE, htoe)
