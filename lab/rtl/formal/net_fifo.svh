// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of net_fifo, inside of it. A commit comes only if nothing has overflowed, as its users keep it.

logic f_started = 1'b0;
always @(posedge clk_i) f_started <= 1'b1;
always @* if (!f_started) assume (!rst_ni);
always @* assume (!(commit_i && (rollback_i || overflow_o || push_i)));
always @* assume (!(rollback_i && push_i));

// One word, whichever, is followed from its place to the output.
logic             f_pick, f_follow, f_sure;
logic [AddrW:0]   f_place;
logic [Width-1:0] f_word;
(* anyseq *) logic f_any;
assign f_pick = f_any & push & !f_follow;
initial f_follow = 1'b0;

logic f_out;  // it is the word at the output
assign f_out = valid_q && rptr_q == f_place + 1'b1;

always @(posedge clk_i) begin
  if (!rst_ni) f_follow <= 1'b0;
  else if (f_pick) begin
    f_follow <= 1'b1;
    f_sure   <= 1'b0;
    f_place  <= wptr_q;
    f_word   <= data_i;
  end else if (f_follow && !f_sure && rollback_i) f_follow <= 1'b0;
  else if (f_follow && f_sure && f_out && ready_i) f_follow <= 1'b0;
  else if (f_follow && commit_i) f_sure <= 1'b1;
end

logic [AddrW:0] f_used, f_committed, f_ahead;
assign f_used      = wptr_q - rptr_q;
assign f_committed = commit_q - rptr_q;
assign f_ahead     = f_place - rptr_q;

always @* if (f_started && rst_ni) begin
  // No overflow; what is not committed is not read.
  assert (f_used <= (AddrW+1)'(Words) && f_committed <= f_used);
  if (f_follow && !(f_sure && f_out)) begin
    // It stays in its place, before or behind the mark, until it is at the output.
    assert (f_ahead < f_used && mem[f_place[AddrW-1:0]] == f_word);
    assert (f_sure == (f_ahead < f_committed));
  end
  if (f_follow && f_sure && f_out) assert (data_o == f_word);
  cover (f_follow && f_sure && f_out && f_place[AddrW]);
end
