// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The credit unit: what may be sent in three virtual channels, and the NOP that tells the partner of buffers that are
// free here. Index 2c is for commands of channel c, 2c+1 for its data.

module ht_credits #(
  parameter int unsigned Steps   = 1,
  parameter int unsigned Buffers = 32
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // Received NOPs.
  input  logic [Steps-1:0]    nop_i,
  input  logic [32*Steps-1:0] dword_i,

  // Packets that are sent.
  input  logic [5:0]          take_i,
  output logic [5:0]          available_o,

  // Buffers that are free here, and the NOP with them.
  input  logic [5:0]          free_i,
  input  logic                nop_sent_i,
  output logic [31:0]         nop_o,
  output logic                nop_urgent_o
);
  // Where the fields lie in a NOP: posted, response, non-posted; command below data.
  function automatic int unsigned field_at(input int unsigned index);
    case (index / 2)
      ht_pkg::Posted: field_at = 8 + 2 * (index % 2);
      ht_pkg::Response: field_at = 12 + 2 * (index % 2);
      default: field_at = 16 + 2 * (index % 2);
    endcase
  endfunction

  logic [5:0] some, many;
  logic [4:0] age_q;

  for (genvar i = 0; i < 6; i++) begin : gen_kind
    localparam int unsigned At = field_at(i);
    logic [2:0] add;

    if (Steps == 1) begin : gen_one
      assign add = {1'b0, nop_i[0] ? dword_i[At+:2] : 2'd0};
    end else begin : gen_two
      assign add = {1'b0, nop_i[0] ? dword_i[At+:2] : 2'd0} + {1'b0, nop_i[1] ? dword_i[32+At+:2] : 2'd0};
    end

    ht_credit_grant u_grant (
      .clk_i,
      .rst_ni,
      .add_i      (add),
      .take_i     (take_i[i]),
      .available_o(available_o[i])
    );

    ht_credit_return #(
      .Buffers(Buffers)
    ) u_return (
      .clk_i,
      .rst_ni,
      .free_i (free_i[i]),
      .sent_i (nop_sent_i),
      .field_o(nop_o[At+:2]),
      .some_o (some[i]),
      .many_o (many[i])
    );
  end

  assign nop_o[7:0]   = 8'd0;
  assign nop_o[31:20] = 12'd0;

  // Nobody waits for long for few buffers.
  assign nop_urgent_o = many != '0 || (some != '0 && age_q == '1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) age_q <= '0;
    else if (nop_sent_i) age_q <= '0;
    else if (age_q != '1) age_q <= age_q + 1'b1;
  end

  if (Steps == 1) begin : gen_unused
    logic unused_dword;
    assign unused_dword = &{dword_i[31:20], dword_i[7:0]};
  end else begin : gen_unused_two
    logic unused_dword;
    assign unused_dword = &{dword_i[63:52], dword_i[39:20], dword_i[7:0]};
  end
endmodule
