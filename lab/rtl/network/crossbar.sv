// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Passes packets from inputs to outputs, each output to one input at a time, in turn. Board n is at output n; a packet
// for a board that is not there is dropped. A packet that waits for its output holds up those behind it.

module crossbar #(
  parameter int unsigned Ports = 4
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,

  input  logic [Ports-1:0]                valid_i,
  input  logic [Ports*net_pkg::PhitW-1:0] phit_i,
  output logic [Ports-1:0]                ready_o,

  output logic [Ports-1:0]                valid_o,
  output logic [Ports*net_pkg::PhitW-1:0] phit_o,
  input  logic [Ports-1:0]                ready_i,

  output logic [Ports-1:0]                unroutable_o  // a packet is dropped
);
  localparam int unsigned PhitW = net_pkg::PhitW;

  // Of each input: the output of the packet at hand, one bit; none for a board that is not there. Of each output: the
  // input whose word is taken.
  logic [Ports*Ports-1:0] want, taken;
  logic [Ports-1:0] drop;

  for (genvar i = 0; i < Ports; i++) begin : gen_input
    logic [Ports-1:0] here, kept_q;
    logic is_head;

    assign is_head = phit_i[PhitW*i+16+:2] == net_pkg::Head;

    always_comb begin
      for (int unsigned o = 0; o < Ports; o++) begin
        here[o] = phit_i[PhitW*i+:net_pkg::BoardW] == net_pkg::BoardW'(o);
      end
    end

    assign want[Ports*i+:Ports] = !valid_i[i] ? '0 : is_head ? here : kept_q;
    assign drop[i]              = valid_i[i] && want[Ports*i+:Ports] == '0;
    assign unroutable_o[i]      = drop[i] && is_head;

    always_comb begin
      ready_o[i] = drop[i];
      for (int unsigned o = 0; o < Ports; o++) ready_o[i] |= taken[Ports*o+i];
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) kept_q <= '0;
      else if (valid_i[i] && is_head) kept_q <= here;
    end
  end

  for (genvar o = 0; o < Ports; o++) begin : gen_output
    logic [Ports-1:0] request, grant;
    logic [PhitW-1:0] chosen;
    logic advance;

    always_comb begin
      chosen = '0;
      for (int unsigned i = 0; i < Ports; i++) begin
        request[i] = want[Ports*i+o];
        if (grant[i]) chosen |= phit_i[PhitW*i+:PhitW];
      end
    end

    assign valid_o[o]             = |(grant & request);
    assign phit_o[PhitW*o+:PhitW] = chosen;
    assign taken[Ports*o+:Ports]  = ready_i[o] ? grant & request : '0;
    // Without a request nothing is granted, and nothing is kept.
    assign advance = valid_o[o] && ready_i[o] && chosen[17:16] == net_pkg::Last;

    arbiter #(
      .Count(Ports)
    ) u_arbiter (
      .clk_i,
      .rst_ni,
      .req_i    (request),
      .gnt_o    (grant),
      .advance_i(advance)
    );
  end
endmodule
