// Properties of ht_tx_cmd_queue, inside of it: commands come out as they went in, and none passes a posted command that
// was there before it.

logic f_started = 1'b0;
always @(posedge clk_i) f_started <= 1'b1;
always @* if (!f_started) assume (!rst_ni);
always @* if (f_started) assume (rst_ni);

// The posted queue beside it: as many entries, one in and one out each clock.
logic [AddrW+1:0] f_given, f_sent;
(* anyseq *) logic f_post, f_send;
always @* begin
  assume (posted_given_i == f_given + (AddrW+2)'(f_post));
  assume (posted_sent_i == f_sent);
  assume (!f_post || f_given - f_sent < (AddrW+2)'(Depth));
  assume (!f_send || f_given != f_sent);
  assume (!pop_i || valid_o);
end
always @(posedge clk_i) begin
  if (!rst_ni) {f_given, f_sent} <= '0;
  else begin
    f_given <= f_given + (AddrW+2)'(f_post);
    f_sent  <= f_sent + (AddrW+2)'(f_send);
  end
end

// One command, whichever, and the posted commands that have to go before it.
(* anyseq *) logic f_pick;
logic f_follow;
logic [AddrW:0] f_place;
logic [Width-1:0] f_cmd;
logic [AddrW+1:0] f_before;
always @(posedge clk_i) begin
  if (!rst_ni) f_follow <= 1'b0;
  else if (f_pick && push && !f_follow) begin
    f_follow <= 1'b1;
    f_place  <= wptr_q;
    f_cmd    <= cmd_i;
    f_before <= posted_given_i - f_sent - (AddrW+2)'(f_send);
  end else begin
    if (f_send && f_before != '0) f_before <= f_before - 1'b1;
    if (pop_i && rptr_q == f_place) f_follow <= 1'b0;
  end
end

always @* if (f_started) begin
  assert ((AddrW+1)'(wptr_q - rptr_q) <= (AddrW+1)'(Depth));
  assert ((AddrW+2)'(f_given - f_sent) <= (AddrW+2)'(Depth));
  if (f_follow) begin
    assert ((AddrW+1)'(f_place - rptr_q) < (AddrW+1)'(wptr_q - rptr_q));
    assert (mem[f_place[AddrW-1:0]] == f_cmd);
    if (rptr_q == f_place) assert (cmd_o == f_cmd);
    if (Ordered && rptr_q == f_place && valid_o) assert (f_before == '0);
    // It does not wait for longer than it has to, either.
    if (rptr_q == f_place && f_before == '0) assert (valid_o);
  end
  cover (f_follow && rptr_q == f_place && f_before == (AddrW+2)'(2));
  cover (!ready_o && f_follow && valid_o);
end

// Needed by the induction: entry k behind the pointer waits for f_wait(k) posted commands, or is that many too late.
if (Ordered) begin : f_ordered
  logic [AddrW:0] waiting;
  assign waiting = wptr_q - gen_ordered.fptr_q;
  logic [(AddrW+2)*Depth-1:0] waits;
  for (genvar k = 0; k < Depth; k++) begin : f_entry
    logic [AddrW-1:0] at;
    logic signed [AddrW+1:0] wait_k;
    assign at     = gen_ordered.fptr_q[AddrW-1:0] + AddrW'(k);
    assign wait_k = gen_ordered.given[at] - f_sent;
    assign waits[(AddrW+2)*k+:AddrW+2] = wait_k;
    always @* if (f_started && (AddrW+1)'(k) < waiting) begin
      assert (wait_k >= -$signed((AddrW+2)'(Depth - 1 - k)));
      assert (wait_k <= $signed({1'b0, f_given - f_sent}));
      if (f_follow && f_place == gen_ordered.fptr_q + (AddrW+1)'(k)) begin
        assert (f_before == '0 ? wait_k <= 0 : wait_k == $signed(f_before));
      end
    end
  end
  for (genvar k = 1; k < Depth; k++) begin : f_pair
    always @* if (f_started && (AddrW+1)'(k) < waiting) begin
      assert ($signed(waits[(AddrW+2)*(k-1)+:AddrW+2]) <= $signed(waits[(AddrW+2)*k+:AddrW+2]));
    end
  end
  always @* if (f_started) begin
    assert (waiting <= (AddrW+1)'(wptr_q - rptr_q));
    assert (f_before <= (AddrW+2)'(Depth) || !f_follow);
    if (f_follow && (AddrW+1)'(f_place - rptr_q) < (AddrW+1)'(gen_ordered.fptr_q - rptr_q)) assert (f_before == '0);
  end
end
