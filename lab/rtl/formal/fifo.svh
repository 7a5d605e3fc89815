// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of fifo, inside of it.

logic f_started = 1'b0;
always @(posedge clk_i) f_started <= 1'b1;
always @* if (!f_started) assume (!rst_ni);

// One word, whichever, is followed from its place to the output.
logic             f_pick, f_follow;
logic [PtrW-1:0]  f_place;
logic [Width-1:0] f_word;
(* anyseq *) logic f_any;
assign f_pick = f_any & push & !f_follow;
initial f_follow = 1'b0;

always @(posedge clk_i) begin
  if (!rst_ni) f_follow <= 1'b0;
  else if (f_pick) begin
    f_follow <= 1'b1;
    f_place  <= wptr_q;
    f_word   <= wdata_i;
  end else if (pop && rptr_q == f_place) f_follow <= 1'b0;
end

// Words before the one at `f_place`.
logic [PtrW:0] f_ahead;
assign f_ahead = (f_place >= rptr_q) ? {1'b0, f_place} - {1'b0, rptr_q} :
                                       (PtrW+1)'(Depth) + {1'b0, f_place} - {1'b0, rptr_q};

always @* if (f_started && rst_ni) begin
  // No overflow, no underflow; the pointers say the same as the counter.
  assert (depth_q <= DepthW'(Depth));
  assert (wptr_q <= Last && rptr_q <= Last);
  assert (((PtrW+2)'(rptr_q) + (PtrW+2)'(depth_q)) % (PtrW+2)'(Depth) == (PtrW+2)'(wptr_q));
  // A word stays, in its place in the row, until it is taken.
  if (f_follow) begin
    assert (f_place <= Last);
    assert ((PtrW+2)'(f_ahead) < (PtrW+2)'(depth_q));
    assert (storage[f_place] == f_word);
    if (rptr_q == f_place) assert (rvalid_o && rdata_o == f_word);
  end
end

always @* if (f_started && rst_ni) begin
  cover (depth_q == DepthW'(Depth));
  cover (f_follow && rready_i && rptr_q == f_place && f_place == '0);
end
