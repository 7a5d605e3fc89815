// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of pcie_replay_buffer, inside of it. Acks and Naks are any, also wrong ones.

logic f_started = 1'b0;
always @(posedge clk_i) f_started <= 1'b1;
always @* if (!f_started) assume (!rst_ni);

// TLPs from the one that is kept: up to the one that is acknowledged, sent, read, written.
logic [SeqW-1:0] f_count, f_of_acked, f_of_unsent, f_of_read, f_behind, f_ahead;
assign f_count     = write_seq_q - keep_seq_q;
assign f_of_acked  = acked_seq_q - keep_seq_q;
assign f_of_unsent = unsent_seq_q - keep_seq_q;
assign f_of_read   = rseq_q - keep_seq_q;
assign f_behind    = acked_seq_q - rseq_q;
assign f_ahead     = rseq_q - acked_seq_q;

logic f_open;
initial f_open = 1'b0;
always @(posedge clk_i) f_open <= rst_ni & take & !rlast_o & !abort_i;

always @* if (f_started && rst_ni) begin
  // No TLP is overwritten that is not acknowledged, or that is being sent.
  assert (f_count <= SeqW'(Tlps));
  // Acknowledged, sent, written: in this order, whatever Acks say.
  assert (f_of_acked <= f_of_unsent && f_of_unsent <= f_count);
  // None is left out: what is sent is the next one, or one that was sent before. It is kept while it is sent.
  if (rvalid_q) assert (f_of_read <= f_of_unsent && f_of_read < f_count);
  // A TLP comes without a break.
  if (f_open) assert (rvalid_q && !rfirst_q);
  // Needed by the induction.
  if (rvalid_q && !rfirst_q) assert (f_of_read < f_of_unsent);
  if (!rvalid_q) assert (f_behind <= SeqW'(Tlps) || f_ahead <= unsent_seq_q - acked_seq_q);
end

always @* if (f_started && rst_ni) begin
  cover (write_seq_q == '0 && acked_seq_q == '1);
  cover (take && rfirst_q && rseq_q != unsent_seq_q && rseq_q != acked_seq_q);
end

`ifdef WITH_DATA
// A beat, whichever: by its TLP and its place in it.
(* anyconst *) logic [SeqW-1:0] f_seq;
(* anyconst *) logic [AddrW:0]  f_index;
logic [AddrW:0] f_write_index, f_read_index;
logic           f_known;
logic [Width:0] f_beat;

assign f_write_index = wptr_q - write_begin_q;
always @(posedge clk_i) begin
  if (!rst_ni) begin
    f_known <= 1'b0;
  end else if (write && write_seq_q == f_seq) begin
    if (f_write_index == f_index) begin
      f_known <= 1'b1;
      f_beat  <= {wlast_i, wdata_i};
    end else if (f_write_index == '0) f_known <= 1'b0;
  end
  if (rst_ni && take) f_read_index <= rlast_o ? '0 : f_read_index + 1'b1;
  if (!rst_ni || jump) f_read_index <= '0;
end

always @* if (f_started && rst_ni) begin
  // No overflow.
  assert (wptr_q - keep_ptr_q <= (AddrW+1)'(Words));
  // What comes out is what went in.
  if (rvalid_q && rseq_q == f_seq && f_read_index == f_index) assert (f_known && rword_q == f_beat);
end
`endif
