// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// FIFO whose words can be taken back: those that were pushed since the last commit come out after a commit, and are
// forgotten after a rollback. A block RAM; the next word is read before somebody asks for it.

module net_fifo #(
  parameter int unsigned Width = 18,
  parameter int unsigned Words = 512
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             push_i,
  input  logic [Width-1:0] data_i,
  input  logic             commit_i,
  input  logic             rollback_i,
  output logic             overflow_o,  // a word since then had no room: there must be no commit

  output logic             valid_o,
  output logic [Width-1:0] data_o,
  input  logic             ready_i
);
  localparam int unsigned AddrW = $clog2(Words);

  logic [Width-1:0] mem [Words];
  logic [AddrW:0] wptr_q, commit_q, rptr_q;
  logic full, push, fetch, valid_q, overflow_q;

  assign full       = wptr_q == {~rptr_q[AddrW], rptr_q[AddrW-1:0]};
  assign push       = push_i && !full;
  assign overflow_o = overflow_q;
  assign fetch      = commit_q != rptr_q && (!valid_q || ready_i);
  assign valid_o    = valid_q;

  always_ff @(posedge clk_i) if (push) mem[wptr_q[AddrW-1:0]] <= data_i;

  always_ff @(posedge clk_i) if (fetch) data_o <= mem[rptr_q[AddrW-1:0]];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wptr_q     <= '0;
      commit_q   <= '0;
      rptr_q     <= '0;
      valid_q    <= 1'b0;
      overflow_q <= 1'b0;
    end else begin
      if (rollback_i) wptr_q <= commit_q;
      else if (push) wptr_q <= wptr_q + 1'b1;
      if (commit_i) commit_q <= wptr_q;
      if (commit_i || rollback_i) overflow_q <= 1'b0;
      else if (push_i && full) overflow_q <= 1'b1;
      if (fetch) rptr_q <= rptr_q + 1'b1;
      if (fetch) valid_q <= 1'b1;
      else if (ready_i) valid_q <= 1'b0;
    end
  end
endmodule
