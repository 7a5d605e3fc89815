// Properties of ht_credit_grant, inside of it: no credit is lost, and none is used that was not given.

logic f_started = 1'b0;
always @(posedge clk_i) f_started <= 1'b1;
always @* if (!f_started) assume (!rst_ni);
always @* if (f_started) assume (rst_ni);
always @* assume (add_i <= 3'd6);

// All that were given and used, until the counter is full for the first time.
logic [15:0] f_given, f_used;
logic f_full;
always @(posedge clk_i) begin
  if (!rst_ni) {f_full, f_given, f_used} <= '0;
  else begin
    f_given <= f_given + 16'(add_i);
    f_used  <= f_used + 16'(take_i && available_o);
    f_full  <= f_full || sum[Width];
  end
end

always @* if (f_started) begin
  assert (f_full || f_given - f_used == 16'(count_q));
  assert (available_o == (count_q != '0));
  cover (f_full);
  cover (f_used == 16'd3 && count_q == '0);
end
