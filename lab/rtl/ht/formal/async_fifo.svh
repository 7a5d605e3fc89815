// Properties of async_fifo, inside of it. Both clocks are free: any edges, also at the same time.

logic f_started = 1'b0;
always @($global_clock) f_started <= 1'b1;
always @* if (!f_started) assume (!wrst_ni && !rrst_ni && !wclk_i && !rclk_i);
// Both resets are active together, and then never again; one may end before the other.
logic f_wrst, f_rrst;
initial {f_wrst, f_rrst} = 2'b00;
always @($global_clock) {f_wrst, f_rrst} <= {wrst_ni, rrst_ni};
always @* if (f_started) assume (wrst_ni >= f_wrst && rrst_ni >= f_rrst);

// Inputs change behind the edges of their clock.
logic f_wclk, f_rclk, f_wvalid, f_rready;
logic [Width-1:0] f_wdata;
always @($global_clock) {f_wclk, f_rclk, f_wvalid, f_rready, f_wdata} <= {wclk_i, rclk_i, wvalid_i, rready_i, wdata_i};
always @* if (f_started) begin
  if (!f_wclk && wclk_i) assume (wvalid_i == f_wvalid && wdata_i == f_wdata);
  if (!f_rclk && rclk_i) assume (rready_i == f_rready);
end

function automatic [AddrW:0] f_binary(input logic [AddrW:0] gray);
  f_binary[AddrW] = gray[AddrW];
  for (int i = AddrW - 1; i >= 0; i--) f_binary[i] = f_binary[i+1] ^ gray[i];
endfunction

(* hierconn *) logic [AddrW:0] \u_rgray.first_q ;
(* hierconn *) logic [AddrW:0] \u_wgray.first_q ;

// What each side knows of the other is late, but never ahead.
logic [AddrW:0] f_r_seen, f_r_first, f_w_seen, f_w_first;
assign f_r_seen  = f_binary(rgray_seen);
assign f_r_first = f_binary(\u_rgray.first_q );
assign f_w_seen  = f_binary(wgray_seen);
assign f_w_first = f_binary(\u_wgray.first_q );

always @* if (f_started) begin
  assert (wgray_q == (wptr_q ^ (wptr_q >> 1)));
  assert (rgray_q == (rptr_q ^ (rptr_q >> 1)));
  // From the oldest to the newest: r seen, r first, r, w seen, w first, w. The whole is no longer than the memory.
  assert ((AddrW+1)'(wptr_q - f_r_seen) <= (AddrW+1)'(Depth));
  assert ((AddrW+1)'(wptr_q - f_r_first) <= (AddrW+1)'(wptr_q - f_r_seen));
  assert ((AddrW+1)'(wptr_q - rptr_q) <= (AddrW+1)'(wptr_q - f_r_first));
  assert ((AddrW+1)'(wptr_q - f_w_seen) <= (AddrW+1)'(wptr_q - rptr_q));
  assert ((AddrW+1)'(wptr_q - f_w_first) <= (AddrW+1)'(wptr_q - f_w_seen));
end

// One word, whichever, is followed from its place to the output. It is found by its number.
(* anyconst *) logic [AddrW:0] f_number;
logic f_follow;
logic [Width-1:0] f_word;
initial f_follow = 1'b0;
(* anyseq *) logic f_pick;
always @(posedge wclk_i) begin
  if (!f_follow && f_pick && write && wrst_ni && wptr_q == f_number) begin
    f_follow <= 1'b1;
    f_word   <= wdata_i;
  end
end
logic f_taken;
initial f_taken = 1'b0;
always @(posedge rclk_i) if (f_follow && read && rptr_q == f_number) f_taken <= 1'b1;

always @* if (f_started && f_follow && !f_taken) begin
  assert ((AddrW+1)'(f_number - rptr_q) < (AddrW+1)'(wptr_q - rptr_q));
  assert (mem[f_number[AddrW-1:0]] == f_word);
  if (rvalid_o && rptr_q == f_number) assert (rdata_o == f_word);
end

always @* if (f_started) begin
  cover (!wready_o);
  cover (f_taken);
end
