// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Makes the dwords of the link from commands and data: chooses a packet for which there is credit, puts an address
// extension in front, and fills gaps with NOPs. Where data is late, NOPs stand between its dwords.
//
// Sources: the channels of the user (0 to 2), and answers of the configuration space (3), which are responses.
// A packet begins with a new word of 64 bits; a dword that is left over carries a NOP. With 8 bits in use a word takes
// one or two clocks, and nothing is left over.

module ht_output_gen #(
  parameter int unsigned Width = 8
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        run_i,
  input  logic                        hold_i,     // the word is not taken in this clock
  input  logic                        wide_i,     // 16 bits are in use

  input  logic [3:0]                  cmd_valid_i,
  input  logic [3*ht_pkg::TxCmdW-1:0] cmd_i,
  input  logic [31:0]                 own_cmd_i,
  output logic [3:0]                  cmd_pop_o,
  input  logic [2:0]                  data_valid_i,
  input  logic [3*64-1:0]             data_i,
  input  logic [31:0]                 own_data_i,  // each dword of the answer
  output logic [2:0]                  data_pop_o,

  input  logic [5:0]                  available_i,
  output logic [5:0]                  take_o,
  input  logic [31:0]                 nop_i,
  input  logic                        nop_urgent_i,
  output logic                        nop_sent_o,

  output logic [Width/8-1:0]          ctl_o,
  output logic [4*Width-1:0]          dword_o
);
  localparam logic [1:0] Begin = 2'd0;
  localparam logic [1:0] Second = 2'd1;  // an extension and the first dword are sent
  localparam logic [1:0] Data = 2'd2;

  // One of the sources, by a bit for each.
  logic [3:0] request, grant;
  logic [ht_pkg::TxCmdW-1:0] chosen;
  logic [5:0] code;
  logic chosen_data, chosen_long, chosen_extended;

  for (genvar s = 0; s < 4; s++) begin : gen_request
    localparam int unsigned Channel = s == 3 ? ht_pkg::Response : s;
    logic [5:0] head;
    if (s == 3) begin : gen_own
      assign head = own_cmd_i[5:0];
    end else begin : gen_user
      assign head = cmd_i[ht_pkg::TxCmdW*s+:6];
    end
    assign request[s] = cmd_valid_i[s] && available_i[2*Channel] &&
                        (available_i[2*Channel+1] || !ht_pkg::has_data(head));
  end

  logic advance, begins;

  arbiter #(
    .Count(4)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i    (request),
    .gnt_o    (grant),
    .advance_i(begins)
  );

  always_comb begin
    chosen = '0;
    for (int unsigned s = 0; s < 3; s++) begin
      if (grant[s]) chosen |= cmd_i[ht_pkg::TxCmdW*s+:ht_pkg::TxCmdW];
    end
    if (grant[3]) chosen |= ht_pkg::TxCmdW'(own_cmd_i);
  end

  assign code            = chosen[5:0];
  assign chosen_data     = ht_pkg::has_data(code);
  assign chosen_long     = ht_pkg::has_address(code);
  assign chosen_extended = chosen_long && chosen[ht_pkg::CmdExtension];

  // The word of this clock, and where the packet is.
  logic [1:0] state_q, state_d;
  logic [4:0] left_q, left_d;
  logic [3:0] source_q, source_d;
  logic [31:0] second_q, second_d, own_data_q;
  logic nop_before_q, nop_before_d;

  logic [31:0] low, high;
  logic low_ctl, high_ctl, high_valid, is_nop;
  logic [63:0] data;
  logic data_valid, data_take;

  always_comb begin
    data       = {2{own_data_q}};
    data_valid = source_q[3];
    for (int unsigned s = 0; s < 3; s++) begin
      if (source_q[s]) begin
        data       = data_i[64*s+:64];
        data_valid = data_valid_i[s];
      end
    end
  end

  always_comb begin
    state_d      = state_q;
    left_d       = left_q;
    source_d     = source_q;
    second_d     = second_q;
    nop_before_d = 1'b0;
    low          = nop_i;
    low_ctl      = 1'b1;
    high         = 32'd0;
    high_ctl     = 1'b1;
    high_valid   = 1'b0;
    is_nop       = 1'b0;
    begins       = 1'b0;
    data_take    = 1'b0;

    unique case (state_q)
      Begin: begin
        if (grant == '0 || (nop_urgent_i && !nop_before_q)) begin
          is_nop       = 1'b1;
          nop_before_d = 1'b1;
        end else begin
          begins     = advance;
          low        = chosen[31:0];
          high       = chosen[63:32];
          high_valid = chosen_long;
          second_d   = chosen[63:32];
          source_d   = grant;
          left_d     = chosen_data ? {1'b0, chosen[25:22]} + 5'd1 : 5'd0;
          state_d    = chosen_data ? Data : Begin;
          if (chosen_extended) begin
            low     = {chosen[87:64], 2'b00, ht_pkg::CmdAddressExtension};
            high    = chosen[31:0];
            state_d = Second;
          end
        end
      end
      Second: begin
        low     = second_q;
        state_d = left_q != 5'd0 ? Data : Begin;
      end
      default: begin
        if (data_valid) begin
          data_take  = 1'b1;
          low        = data[31:0];
          low_ctl    = 1'b0;
          high       = data[63:32];
          high_ctl   = 1'b0;
          high_valid = left_q > 5'd1;
          left_d     = left_q > 5'd2 ? left_q - 5'd2 : 5'd0;
          state_d    = left_q > 5'd2 ? Data : Begin;
        end else begin
          is_nop = 1'b1;
        end
      end
    endcase
  end

  assign cmd_pop_o  = begins ? grant : 4'd0;
  assign data_pop_o = advance && data_take ? source_q[2:0] : 3'd0;
  assign nop_sent_o = advance && is_nop;

  for (genvar c = 0; c < 3; c++) begin : gen_take
    logic begun;
    assign begun         = cmd_pop_o[c] || (c == ht_pkg::Response && cmd_pop_o[3]);
    assign take_o[2*c]   = begun;
    assign take_o[2*c+1] = begun && chosen_data;
  end

  // Where only 8 bits are in use, the upper half of a word waits for the next clock.
  logic [31:0] rest_q;
  logic rest_ctl_q, rest_valid_q;

  assign advance = run_i && !hold_i && !rest_valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Begin;
      left_q       <= '0;
      source_q     <= '0;
      nop_before_q <= 1'b0;
      rest_valid_q <= 1'b0;
    end else if (advance) begin
      state_q      <= state_d;
      left_q       <= left_d;
      source_q     <= source_d;
      nop_before_q <= nop_before_d;
      rest_valid_q <= high_valid && !wide_i;
    end else if (!hold_i) begin
      rest_valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance) begin
      second_q   <= second_d;
      rest_q     <= high;
      rest_ctl_q <= high_ctl;
    end
    if (cmd_pop_o[3]) own_data_q <= own_data_i;
  end

  logic [31:0] low_out;
  logic low_ctl_out;
  assign low_out     = rest_valid_q ? rest_q : low;
  assign low_ctl_out = rest_valid_q ? rest_ctl_q : low_ctl;

  if (Width == 8) begin : gen_narrow
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        ctl_o   <= 1'b1;
        dword_o <= '0;
      end else if (!hold_i && run_i) begin
        ctl_o   <= low_ctl_out;
        dword_o <= low_out;
      end
    end
  end else begin : gen_wide
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        ctl_o   <= '1;
        dword_o <= '0;
      end else if (!hold_i && run_i) begin
        ctl_o   <= {high_ctl || !high_valid, low_ctl_out};
        dword_o <= {high & {32{high_valid}}, low_out};
      end
    end
  end
endmodule
