// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Registers of the message-passing design: where the ring is, who this board is, and what it has done.

module message_registers #(
  localparam int unsigned Counters = 9
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  input  logic [5:0]                 addr_i,      // of a dword
  input  logic [3:0]                 write_i,
  input  logic [31:0]                wdata_i,
  input  logic                       read_i,
  output logic [31:0]                rdata_o,

  output logic                       deliver_o,
  output logic [net_pkg::BoardW-1:0] own_o,
  output logic [63:7]                base_o,
  output logic [15:0]                slots_o,

  input  logic [31:0]                completed_i,
  // Each counts one: sent, (completed), stray, refused, frames, repeated, damaged, no room, timeouts.
  input  logic [Counters-1:0]        events_i
);
  localparam logic [31:0] Id = 32'h4845_5832;

  logic [31:0] control_q, own_q, low_q, high_q, slots_q, value, mask;
  logic [32*Counters-1:0] counters_q;

  for (genvar b = 0; b < 4; b++) begin : gen_mask
    assign mask[8*b+:8] = {8{write_i[b]}};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      control_q <= '0;
      own_q     <= '0;
      low_q     <= '0;
      high_q    <= '0;
      slots_q   <= '0;
    end else begin
      if (addr_i == 6'd1) control_q <= merge(control_q);
      if (addr_i == 6'd2) own_q <= merge(own_q);
      if (addr_i == 6'd4) low_q <= merge(low_q);
      if (addr_i == 6'd5) high_q <= merge(high_q);
      if (addr_i == 6'd6) slots_q <= merge(slots_q);
    end
  end

  for (genvar c = 0; c < Counters; c++) begin : gen_counter
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) counters_q[32*c+:32] <= '0;
      else if (events_i[c]) counters_q[32*c+:32] <= counters_q[32*c+:32] + 32'd1;
    end
  end

  always_comb begin
    unique case (addr_i)
      6'd0: value = Id;
      6'd1: value = {31'd0, deliver_o};
      6'd2: value = {25'd0, own_o};
      6'd4: value = {base_o[31:7], 7'd0};
      6'd5: value = high_q;
      6'd6: value = {16'd0, slots_o};
      6'd9: value = completed_i;
      default: value = '0;
    endcase
    for (int unsigned c = 0; c < Counters; c++) begin
      if (c != 1 && addr_i == 6'(8 + c)) value = counters_q[32*c+:32];
    end
  end

  always_ff @(posedge clk_i) if (read_i) rdata_o <= value;

  assign deliver_o = control_q[0];
  assign own_o     = own_q[net_pkg::BoardW-1:0];
  assign base_o    = {high_q, low_q[31:7]};
  assign slots_o   = slots_q[15:0];

  // What a write makes of a register.
  function automatic logic [31:0] merge(input logic [31:0] old);
    merge = (old & ~mask) | (wdata_i & mask);
  endfunction

  logic unused;
  assign unused = &{control_q[31:1], own_q[31:net_pkg::BoardW], low_q[6:0], slots_q[31:16]};
endmodule
