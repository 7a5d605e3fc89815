// Properties of ht_output_gen, inside of it: nothing is sent without credit, and a packet that was chosen is sent once.

logic f_started = 1'b0;
always @(posedge clk_i) f_started <= 1'b1;
always @* if (!f_started) assume (!rst_ni);
always @* if (f_started) assume (rst_ni);

// Credits stay until they are used, commands until they are taken.
logic [5:0] f_available;
logic [3:0] f_valid;
logic [3*ht_pkg::TxCmdW-1:0] f_cmd;
logic [31:0] f_own;
always @(posedge clk_i) begin
  f_available <= available_i & ~take_o;
  f_valid     <= cmd_valid_i & ~cmd_pop_o;
  f_cmd       <= cmd_i;
  f_own       <= own_cmd_i;
end
always @* if (f_started) begin
  assume ((f_available & ~available_i) == '0);
  assume ((f_valid & ~cmd_valid_i) == '0);
  for (int s = 0; s < 3; s++) begin
    if (f_valid[s]) assume (cmd_i[ht_pkg::TxCmdW*s+:ht_pkg::TxCmdW] == f_cmd[ht_pkg::TxCmdW*s+:ht_pkg::TxCmdW]);
  end
  if (f_valid[3]) assume (own_cmd_i == f_own);
end

(* hierconn *) logic [3:0] \u_arbiter.kept_q ;

always @* if (f_started) begin
  assert ((take_o & ~available_i) == '0);
  assert ((cmd_pop_o & ~cmd_valid_i) == '0);
  assert ((cmd_pop_o & (cmd_pop_o - 4'd1)) == '0);
  assert ((data_pop_o & ~data_valid_i) == '0);
  assert ((cmd_pop_o == '0) || !hold_i);
  assert (!nop_sent_o || (cmd_pop_o == '0 && data_pop_o == '0));
  // Needed by the induction: a kept grant is one that could be used.
  assert ((\u_arbiter.kept_q & ~request) == '0);
  assert ((\u_arbiter.kept_q & (\u_arbiter.kept_q - 4'd1)) == '0);
  assert ((source_q & (source_q - 4'd1)) == '0);
  assert (left_q <= 5'd16);
  assert (state_q != 2'd3);
  cover (take_o == 6'b110000);
  cover (state_q == Second);
end
