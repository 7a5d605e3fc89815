// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Data of the user's logic for one channel: words of 64 bits in a block RAM. The next word is read before somebody
// asks for it.

module ht_tx_data_queue #(
  parameter int unsigned Words = 256
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [63:0] data_i,
  output logic        valid_o,
  output logic [63:0] data_o,
  input  logic        pop_i
);
  localparam int unsigned AddrW = $clog2(Words);

  logic [63:0] mem [Words];
  logic [AddrW:0] wptr_q, rptr_q;
  logic push, fetch, valid_q;

  assign ready_o = wptr_q != {~rptr_q[AddrW], rptr_q[AddrW-1:0]};
  assign push    = valid_i && ready_o;
  assign fetch   = wptr_q != rptr_q && (!valid_q || pop_i);
  assign valid_o = valid_q;

  always_ff @(posedge clk_i) if (push) mem[wptr_q[AddrW-1:0]] <= data_i;

  always_ff @(posedge clk_i) if (fetch) data_o <= mem[rptr_q[AddrW-1:0]];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wptr_q  <= '0;
      rptr_q  <= '0;
      valid_q <= 1'b0;
    end else begin
      if (push) wptr_q <= wptr_q + 1'b1;
      if (fetch) rptr_q <= rptr_q + 1'b1;
      if (fetch) valid_q <= 1'b1;
      else if (pop_i) valid_q <= 1'b0;
    end
  end
endmodule
