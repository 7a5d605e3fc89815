// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Requests of the host, one packet at a time, as accesses to dwords: one dword each clock. Answers reads, non-posted
// writes and flushes; atomics are a target abort. Posted packets go first, so no read passes a write before it.
//
// `rdata_i` is the dword of the last clock in which `read_o` was set, and stays until the next one.

module host_target #(
  parameter int unsigned AddrW       = 14,    // bits of an offset behind the larger base address
  parameter bit          RefuseWrite = 1'b0   // non-posted writes behind base address 0 are a target abort
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic [4:0]              unit_i,

  // Requests. Those of the posted channel only as long as they are for this block.
  input  logic                    posted_valid_i,
  input  logic [ht_pkg::CmdW-1:0] posted_i,
  output logic                    posted_ready_o,
  input  logic                    posted_data_valid_i,
  input  logic [63:0]             posted_data_i,
  input  logic                    posted_data_last_i,
  output logic                    posted_data_ready_o,
  output logic                    posted_busy_o,       // the data of a posted packet is being read
  input  logic                    asked_valid_i,       // non-posted; not while posted packets before it wait
  input  logic [ht_pkg::CmdW-1:0] asked_i,
  output logic                    asked_ready_o,
  input  logic                    asked_data_valid_i,
  input  logic [63:0]             asked_data_i,
  input  logic                    asked_data_last_i,
  output logic                    asked_data_ready_o,

  // Responses.
  output logic                    answer_valid_o,
  output logic [ht_pkg::CmdW-1:0] answer_o,
  input  logic                    answer_ready_i,
  output logic                    answer_data_valid_o,
  output logic [63:0]             answer_data_o,
  input  logic                    answer_data_ready_i,

  // Accesses.
  output logic                    bar_o,
  output logic [AddrW-1:2]        addr_o,
  output logic [3:0]              write_o,
  output logic [31:0]             wdata_o,
  output logic                    read_o,
  input  logic [31:0]             rdata_i,
  output logic                    wrote_o,             // the last dword of a posted write
  output logic                    answered_o
);
  localparam logic [1:0] Idle = 2'd0;
  localparam logic [1:0] Write = 2'd1;   // takes data
  localparam logic [1:0] Answer = 2'd2;  // the response waits for its queue
  localparam logic [1:0] Read = 2'd3;

  logic [1:0] state_q, state_d;

  // The packet at hand.
  logic [31:0] first_q;
  logic [AddrW-1:2] addr_q;
  logic bar_q, posted_q, mask_next_q, half_q;
  logic [31:0] mask_q;
  logic [4:0] left_q;

  // The next packet.
  logic [ht_pkg::CmdW-1:0] next;
  logic [5:0] next_code;
  logic next_valid, next_read, next_data, take;

  assign next       = posted_valid_i ? posted_i : asked_i;
  assign next_code  = next[5:0];
  assign next_valid = posted_valid_i || asked_valid_i;
  assign next_read  = next_code[5:4] == ht_pkg::CmdRead;
  assign next_data  = ht_pkg::has_data(next_code);
  assign take       = state_q == Idle && next_valid;

  assign posted_ready_o = state_q == Idle;
  assign asked_ready_o  = state_q == Idle && !posted_valid_i && asked_valid_i;

  // Data of a write, by dwords.
  logic data_valid, data_last, data_ready, at_mask, is_masked, is_atomic, is_read, is_refused, step;
  logic [63:0] data;
  logic [31:0] dword;

  assign data_valid = posted_q ? posted_data_valid_i : asked_data_valid_i;
  assign data       = posted_q ? posted_data_i : asked_data_i;
  assign data_last  = posted_q ? posted_data_last_i : asked_data_last_i;
  assign step       = state_q == Write && data_valid;
  assign dword      = half_q ? data[63:32] : data[31:0];
  assign data_ready = step && (half_q || (data_last && left_q == 5'd1));

  assign posted_data_ready_o = posted_q && data_ready;
  assign asked_data_ready_o  = !posted_q && data_ready;
  assign posted_busy_o       = state_q == Write && posted_q;

  assign is_atomic  = first_q[5:0] == ht_pkg::CmdAtomic;
  assign is_read    = first_q[5:4] == ht_pkg::CmdRead;
  assign is_masked  = !first_q[2];
  assign is_refused = is_atomic || (RefuseWrite && !posted_q && !bar_q && !is_read && first_q[5:0] != ht_pkg::CmdFlush);
  assign at_mask    = mask_next_q;

  assign write_o = !step || at_mask || is_refused ? 4'd0 : is_masked ? mask_q[{addr_q[4:2], 2'b00}+:4] : 4'hf;
  assign wdata_o = dword;
  assign bar_o   = bar_q;
  assign addr_o  = addr_q;
  assign wrote_o = data_ready && data_last && posted_q;

  // Dwords of a read: asked for ahead of their places in words of 64 bits.
  logic has_data, fetch, fetched_q, push, stall;
  logic [4:0] ask_q;
  logic [31:0] low_q, got;

  assign has_data            = is_read || is_atomic;
  assign fetch               = (state_q == Answer || state_q == Read) && has_data && ask_q != '0 && !stall;
  assign read_o              = fetch;
  assign got                 = is_refused ? '1 : rdata_i;
  assign push                = fetched_q && (half_q || left_q == 5'd1);
  assign stall               = push && !answer_data_ready_i;
  assign answer_data_valid_o = push;
  assign answer_data_o       = half_q ? {got, low_q} : {32'd0, got};

  assign answer_valid_o = state_q == Answer;
  assign answer_o       = {64'd0, ht_pkg::response(first_q, unit_i, 1'b0, is_refused)};
  assign answered_o     = answer_valid_o && answer_ready_i && is_read;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: if (next_valid && next_data) state_d = Write;
            else if (next_valid && !posted_valid_i) state_d = Answer;
      Write: if (data_ready && data_last) state_d = posted_q ? Idle : Answer;
      Answer: if (answer_ready_i) state_d = has_data ? Read : Idle;
      Read: if (ask_q == '0 && !fetched_q) state_d = Idle;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      fetched_q <= 1'b0;
    end else begin
      state_q <= state_d;
      if (!stall) fetched_q <= fetch;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      first_q     <= next[31:0];
      addr_q      <= {next[32+:AddrW-8], next[31:26]};
      bar_q       <= next[ht_pkg::CmdBar];
      posted_q    <= posted_valid_i;
      mask_next_q <= next_data && next_code != ht_pkg::CmdAtomic && !next[2];
      half_q      <= 1'b0;
      left_q      <= next_read ? dwords(next[31:0]) : {1'b0, next[25:22]} + 5'd1;
      ask_q       <= dwords(next[31:0]);
    end else if (step) begin
      mask_next_q <= 1'b0;
      if (at_mask) mask_q <= dword;
      else addr_q <= addr_q + 1'b1;
      half_q <= !half_q;
      left_q <= left_q - 5'd1;
      // The dwords of the answer to an atomic.
      if (data_ready && data_last) begin
        half_q <= 1'b0;
        left_q <= 5'd2;
      end
    end else begin
      if (fetch) begin
        addr_q <= addr_q + 1'b1;
        ask_q  <= ask_q - 5'd1;
      end
      if (fetched_q && !stall) begin
        low_q  <= got;
        half_q <= !half_q;
        left_q <= left_q - 5'd1;
      end
    end
  end

  logic unused;
  assign unused = &{next[ht_pkg::CmdW-1:ht_pkg::CmdBar+1], next[ht_pkg::CmdBar-1:24+AddrW]};

  // Dwords that come back: a read of bytes is for one, an atomic for two.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic [4:0] dwords(input logic [31:0] first);
    if (first[5:0] == ht_pkg::CmdAtomic) dwords = 5'd2;
    else dwords = first[2] ? {1'b0, first[25:22]} + 5'd1 : 5'd1;
  endfunction
  // verilator lint_on UNUSEDSIGNAL
endmodule
