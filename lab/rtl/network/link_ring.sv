// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Packets until they are acknowledged: a ring of words, and where each packet begins in it. A packet can be read while
// it is being written.

module link_ring #(
  parameter int unsigned SeqW     = 7,
  parameter int unsigned Words    = 1024,
  parameter int unsigned Messages = 32     // a power of two, less than half of the circle of sequence numbers
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,

  input  logic                      valid_i,
  output logic                      ready_o,
  input  logic [net_pkg::PhitW-1:0] phit_i,

  output logic                      valid_o,
  output logic [net_pkg::PhitW-1:0] phit_o,
  input  logic                      ready_i,
  input  logic                      jump_i,   // read again, from `jump_to_i` on
  input  logic [SeqW-1:0]           jump_to_i,
  input  logic [SeqW-1:0]           keep_i    // packets before it are not needed
);
  localparam int unsigned AddrW = $clog2(Words);
  localparam int unsigned MessageW = $clog2(Messages);

  logic [net_pkg::PhitW-1:0] mem [Words];
  logic [AddrW:0] begins [Messages];

  logic [AddrW:0] wptr_q, rptr_q, keep_ptr_q;
  logic [SeqW-1:0] seq_q;  // of the next packet that is written
  logic is_head, push, fetch, valid_q;

  assign is_head = phit_i[17:16] == net_pkg::Head;
  assign ready_o = wptr_q - keep_ptr_q != (AddrW + 1)'(Words) && !(is_head && seq_q - keep_i == SeqW'(Messages));
  assign push    = valid_i && ready_o;
  assign fetch   = wptr_q != rptr_q && (!valid_q || ready_i) && !jump_i;
  assign valid_o = valid_q;

  always_ff @(posedge clk_i) begin
    if (push) mem[wptr_q[AddrW-1:0]] <= phit_i;
    if (push && is_head) begins[seq_q[MessageW-1:0]] <= wptr_q;
  end

  always_ff @(posedge clk_i) if (fetch) phit_o <= mem[rptr_q[AddrW-1:0]];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wptr_q     <= '0;
      rptr_q     <= '0;
      keep_ptr_q <= '0;
      seq_q      <= '0;
      valid_q    <= 1'b0;
    end else begin
      if (push) wptr_q <= wptr_q + 1'b1;
      if (push && is_head) seq_q <= seq_q + 1'b1;
      keep_ptr_q <= keep_i == seq_q ? wptr_q : begins[keep_i[MessageW-1:0]];
      if (jump_i) rptr_q <= jump_to_i == seq_q ? wptr_q : begins[jump_to_i[MessageW-1:0]];
      else if (fetch) rptr_q <= rptr_q + 1'b1;
      if (jump_i) valid_q <= 1'b0;
      else if (fetch) valid_q <= 1'b1;
      else if (ready_i) valid_q <= 1'b0;
    end
  end
endmodule
