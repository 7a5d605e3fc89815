// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Commands of the user's logic for one channel. An ordered queue does not let a command pass posted ones that the
// user has handed over before it (in the same clock: the posted one is first). Each entry has the number of posted
// commands before it; entries are free from the front on, so one pointer says how many are.

module ht_tx_cmd_queue #(
  parameter int unsigned Width   = ht_pkg::TxCmdW,
  parameter int unsigned Depth   = 32,
  parameter bit          Ordered = 1'b0,
  localparam int unsigned AddrW  = $clog2(Depth)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      valid_i,
  output logic                      ready_o,
  input  logic [Width-1:0]          cmd_i,
  output logic                      valid_o,
  output logic [Width-1:0]          cmd_o,
  input  logic                      pop_i,
  input  logic [AddrW+1:0]          posted_given_i,  // posted commands handed over, with the one of this clock
  input  logic [AddrW+1:0]          posted_sent_i
);
  logic [Width-1:0] mem [Depth];
  logic [AddrW:0] wptr_q, rptr_q;
  logic push, some, front_free;

  assign some    = wptr_q != rptr_q;
  assign ready_o = wptr_q != {~rptr_q[AddrW], rptr_q[AddrW-1:0]};
  assign push    = valid_i && ready_o;
  assign cmd_o   = mem[rptr_q[AddrW-1:0]];
  assign valid_o = some && front_free;

  always_ff @(posedge clk_i) if (push) mem[wptr_q[AddrW-1:0]] <= cmd_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wptr_q <= '0;
      rptr_q <= '0;
    end else begin
      if (push) wptr_q <= wptr_q + 1'b1;
      if (pop_i) rptr_q <= rptr_q + 1'b1;
    end
  end

  if (Ordered) begin : gen_ordered
    // Half of the range is enough: the pointer moves on by one each clock, and so do posted commands at most.
    logic [AddrW+1:0] given [Depth];
    logic [AddrW+1:0] ahead;
    logic [AddrW:0] fptr_q;
    logic next_free;

    assign ahead      = posted_sent_i - given[fptr_q[AddrW-1:0]];
    assign next_free  = fptr_q != wptr_q && !ahead[AddrW+1];
    assign front_free = fptr_q != rptr_q || next_free;

    always_ff @(posedge clk_i) if (push) given[wptr_q[AddrW-1:0]] <= posted_given_i;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) fptr_q <= '0;
      else if (next_free) fptr_q <= fptr_q + 1'b1;
    end
  end else begin : gen_free
    logic unused_posted;
    assign unused_posted = &{posted_given_i, posted_sent_i};
    assign front_free    = 1'b1;
  end
endmodule
