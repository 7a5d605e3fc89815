// Properties of ht_credit_return, inside of it. Each buffer is free and not told, told to the partner, or in use: their
// sum never changes, so none is lost and none is given twice.

logic f_started = 1'b0;
always @(posedge clk_i) f_started <= 1'b1;
always @* if (!f_started) assume (!rst_ni);
always @* if (f_started) assume (rst_ni);

// A packet of a partner that keeps to its credits.
(* anyseq *) logic f_arrives;
logic [CountW-1:0] f_told, f_in_use;
always @* if (f_started) begin
  assume (!f_arrives || f_told != '0);
  assume (!free_i || f_in_use != '0);
end

always @(posedge clk_i) begin
  if (!rst_ni) {f_told, f_in_use} <= '0;
  else begin
    f_told   <= f_told + (sent_i ? CountW'(field_o) : '0) - CountW'(f_arrives);
    f_in_use <= f_in_use + CountW'(f_arrives) - CountW'(free_i);
  end
end

always @* if (f_started) begin
  assert ((CountW+2)'(count_q) + (CountW+2)'(f_told) + (CountW+2)'(f_in_use) == (CountW+2)'(Buffers));
  assert (CountW'(field_o) <= count_q);
  assert (some_o == (field_o != '0));
  assert (many_o == (field_o == 2'd3));
  cover (f_told == CountW'(Buffers));
  cover (f_in_use == CountW'(Buffers));
end
