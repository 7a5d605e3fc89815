// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Which TLP goes next: one of three streams, posted, non-posted and completions, that has the credits.
//
// A TLP that waits for credits holds up no other class. TLPs go in the order in which their first beats
// are taken; whoever needs an order between classes offers the later TLP after the earlier was taken.

module pcie_tx_select #(
  parameter int unsigned Dwords = 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // TLPs may go: flow control is initialised.
  input  logic                   active_i,

  // A stream for each class, in the order of pcie_pkg.
  input  logic [2:0]             valid_i,
  output logic [2:0]             ready_o,
  input  logic [3*32*Dwords-1:0] data_i,
  input  logic [3*Dwords-1:0]    keep_i,
  input  logic [2:0]             last_i,

  // Flow-control DLLPs of the other end.
  input  logic                   fc_valid_i,
  input  logic                   fc_init_i,
  input  logic [1:0]             fc_class_i,
  input  logic [7:0]             fc_header_i,
  input  logic [11:0]            fc_data_i,

  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [32*Dwords-1:0]   data_o,
  output logic [Dwords-1:0]      keep_o,
  output logic                   last_o
);

  logic [2:0] allow, grant, take;
  // The first beat of the TLP that has the grant has gone.
  logic       body_q;
  logic       done;

  for (genvar c = 0; c < 3; c++) begin : gen_class
    pcie_credit_tx u_credit (
      .clk_i,
      .rst_ni,
      .limit_valid_i  (fc_valid_i & (fc_class_i == 2'(c))),
      .limit_init_i   (fc_init_i),
      .limit_header_i (fc_header_i),
      .limit_data_i   (fc_data_i),
      .need_data_i    (pcie_pkg::data_credits(data_i[c*32*Dwords +: 32])),
      .allow_o        (allow[c]),
      .take_i         (take[c])
    );
  end

  arbiter #(
    .Count (3)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i     (valid_i & allow & {3{active_i}}),
    .gnt_o     (grant),
    .advance_i (done)
  );

  assign ready_o = grant & {3{ready_i}};
  assign valid_o = |(grant & valid_i);
  assign last_o  = |(grant & last_i);
  assign done    = valid_o & ready_i & last_o;
  assign take    = grant & valid_i & {3{ready_i & ~body_q}};

  always_comb begin
    data_o = '0;
    keep_o = '0;
    for (int unsigned c = 0; c < 3; c++) begin
      data_o = data_o | (data_i[c*32*Dwords +: 32*Dwords] & {32*Dwords{grant[c]}});
      keep_o = keep_o | (keep_i[c*Dwords +: Dwords] & {Dwords{grant[c]}});
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) body_q <= 1'b0;
    else if (valid_o & ready_i) body_q <= ~last_o;
  end

endmodule
