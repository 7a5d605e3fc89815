// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// TLPs from the transaction layer until the other end acknowledges them, and their sequence numbers.
//
// A TLP is sent once it is here as a whole, so the framer can read it without a break. The words lie in a
// ring; another ring holds, by sequence number, where each TLP begins. To send again is to read again from
// the oldest TLP. What is being read stays, also if its Ack comes meanwhile.

module pcie_replay_buffer #(
  // Bits of a beat, without the mark of the last one.
  parameter int unsigned Width = 33,
  // Beats and TLPs that may wait for an Ack; powers of two. TLPs: less than half of the
  // circle of sequence numbers.
  parameter int unsigned Words = 512,
  parameter int unsigned Tlps  = 32,
  // Bits of a sequence number; 12, except in proofs.
  parameter int unsigned SeqW  = 12
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             wvalid_i,
  output logic             wready_o,
  input  logic [Width-1:0] wdata_i,
  input  logic             wlast_i,

  // Once the first beat of a TLP is taken, the others follow without a break.
  output logic             rvalid_o,
  input  logic             rready_i,
  output logic [Width-1:0] rdata_o,
  output logic             rlast_o,
  output logic [SeqW-1:0]  rseq_o,

  // Ack or Nak: everything up to this number has arrived.
  input  logic             ack_valid_i,
  input  logic [SeqW-1:0]  ack_seq_i,
  // Send everything again that is not acknowledged, after the TLP that is being sent.
  input  logic             replay_i,
  // The same, and break off the TLP that is being sent.
  input  logic             abort_i,

  // The Ack is for TLPs that are waiting for it, or for one that was never sent.
  output logic             progress_o,
  output logic             bad_ack_o,
  // Something was sent that is not acknowledged.
  output logic             waiting_o
);

  localparam int unsigned AddrW = $clog2(Words);
  localparam int unsigned TlpW  = $clog2(Tlps);

  logic [Width:0] storage [Words];
  // Where a TLP begins, with a bit that tells apart a full ring and an empty one.
  logic [AddrW:0] begins [Tlps];

  // The TLP that is being written, the first that was never sent, the first without an Ack.
  logic [SeqW-1:0] write_seq_q, unsent_seq_q, acked_seq_q;
  logic [AddrW:0] wptr_q, write_begin_q;
  // What is not free: from this TLP, from this beat.
  logic [SeqW-1:0] keep_seq, keep_seq_q;
  logic [AddrW:0] keep_ptr_q;

  // Beat at the output; the beat after it is at `rptr_q`.
  logic           rvalid_q, rfirst_q;
  logic [Width:0] rword_q;
  logic [SeqW-1:0] rseq_q, next_seq, following;
  logic [AddrW:0] rptr_q;
  logic           replay_q;

  // Write side.
  logic write;
  assign wready_o = (wptr_q - keep_ptr_q != (AddrW+1)'(Words)) && (write_seq_q - keep_seq_q != SeqW'(Tlps));
  assign write    = wvalid_i & wready_o;

  always_ff @(posedge clk_i) begin
    if (write) storage[wptr_q[AddrW-1:0]] <= {wlast_i, wdata_i};
    if (write & wlast_i) begins[write_seq_q[TlpW-1:0]] <= write_begin_q;
  end

  // Read side.
  logic take, at_end, untouched, advance, behind, unsent, jump, fetch;
  assign take      = rvalid_q & rready_i;
  // After this cycle a TLP begins.
  assign at_end    = !rvalid_q | (take & rlast_o);
  assign untouched = rvalid_q & rfirst_q & !take;
  // It is the TLP after the one at the output. `rready_i` comes late, so both cases are worked out before.
  assign advance   = rvalid_q & !untouched;
  assign following = rseq_q + SeqW'(1);
  assign next_seq  = advance ? following : rseq_q;
  // It has its Ack already; it is there.
  assign behind    = advance ? is_before(following, acked_seq_q) : is_before(rseq_q, acked_seq_q);
  assign unsent    = advance ? following != write_seq_q : rseq_q != write_seq_q;
  assign jump      = abort_i | ((replay_q | behind) & (at_end | untouched));
  assign fetch     = !jump & (at_end ? unsent : take);

  always_ff @(posedge clk_i) begin
    if (fetch) rword_q <= storage[rptr_q[AddrW-1:0]];
  end

  assign rvalid_o = rvalid_q;
  assign rdata_o  = rword_q[Width-1:0];
  assign rlast_o  = rword_q[Width];
  assign rseq_o   = rseq_q;

  // Acks.
  logic [SeqW-1:0] newly_acked;
  assign newly_acked = ack_seq_i + SeqW'(1) - acked_seq_q;
  assign waiting_o   = (unsent_seq_q != acked_seq_q);
  assign progress_o  = ack_valid_i && newly_acked != '0 && newly_acked <= unsent_seq_q - acked_seq_q;
  assign bad_ack_o   = ack_valid_i && newly_acked > unsent_seq_q - acked_seq_q;
  assign keep_seq    = (rvalid_q && is_before(rseq_q, acked_seq_q)) ? rseq_q : acked_seq_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_seq_q   <= '0;
      unsent_seq_q  <= '0;
      acked_seq_q   <= '0;
      keep_seq_q    <= '0;
      keep_ptr_q    <= '0;
      wptr_q        <= '0;
      write_begin_q <= '0;
      rvalid_q      <= 1'b0;
      rfirst_q      <= 1'b0;
      rseq_q        <= '0;
      rptr_q        <= '0;
      replay_q      <= 1'b0;
    end else begin
      if (write) wptr_q <= wptr_q + 1'b1;
      if (write & wlast_i) begin
        write_seq_q   <= write_seq_q + SeqW'(1);
        write_begin_q <= wptr_q + 1'b1;
      end

      if (progress_o) acked_seq_q <= ack_seq_i + SeqW'(1);
      keep_seq_q <= keep_seq;
      keep_ptr_q <= (keep_seq == write_seq_q) ? write_begin_q : begins[keep_seq[TlpW-1:0]];

      if (take & rfirst_q & (rseq_q == unsent_seq_q)) unsent_seq_q <= unsent_seq_q + SeqW'(1);
      replay_q <= replay_i | (replay_q & !jump);
      if (jump) begin
        rvalid_q <= 1'b0;
        rseq_q   <= acked_seq_q;
        rptr_q   <= (acked_seq_q == write_seq_q) ? write_begin_q : begins[acked_seq_q[TlpW-1:0]];
      end else if (at_end) begin
        rvalid_q <= fetch;
        rfirst_q <= 1'b1;
        rseq_q   <= next_seq;
      end else if (take) begin
        rfirst_q <= 1'b0;
      end
      if (fetch) rptr_q <= rptr_q + 1'b1;
    end
  end

  // Sequence numbers lie less than half of the circle apart.
  function automatic logic is_before(input logic [SeqW-1:0] seq, input logic [SeqW-1:0] other);
    logic [SeqW-1:0] ahead;
    ahead = other - seq;
    is_before = (ahead != '0) & !ahead[SeqW-1];
  endfunction

endmodule
