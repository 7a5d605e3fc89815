// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Checks the LCRC of received TLPs and takes it off.
//
// A dword goes on when the next one is there, so the last dword of the TLP, which is the one before the LCRC,
// is known as such. Together with it comes the verdict. Outputs are registers.

module pcie_rx_check #(
  parameter int unsigned Dwords = 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 restart_i,
  // EDB does not come with the LCRC but behind it: an inverted LCRC is enough.
  input  logic                 gen3_i,

  // From a deframer.
  input  logic [Dwords-1:0]    begin_i,
  input  logic [12*Dwords-1:0] seq_i,
  input  logic [Dwords-1:0]    dword_valid_i,
  input  logic [32*Dwords-1:0] dword_i,
  input  logic [Dwords-1:0]    end_i,
  input  logic [Dwords-1:0]    edb_i,
  input  logic [Dwords-1:0]    broken_i,

  // Dwords of one TLP.
  output logic [Dwords-1:0]    dword_valid_o,
  output logic [32*Dwords-1:0] dword_o,
  // The TLP ends with these dwords: what about it. None of the three while it goes on.
  output logic                 sound_o,
  output logic                 nullified_o,
  output logic                 bad_o,
  output logic [11:0]          seq_o
);

  logic                 open_q, open_d, held_valid_q, held_valid_d;
  logic [31:0]          held_q, held_d, crc_q, crc_d;
  logic [11:0]          seq_q, seq_d, seq_out;
  logic [Dwords-1:0]    valid;
  logic [32*Dwords-1:0] data;
  logic                 sound, nullified, bad;

  always_comb begin
    open_d       = open_q;
    held_valid_d = held_valid_q;
    held_d       = held_q;
    crc_d        = crc_q;
    seq_d        = seq_q;
    seq_out      = seq_q;
    valid        = '0;
    data         = '0;
    sound        = 1'b0;
    nullified    = 1'b0;
    bad          = 1'b0;

    for (int unsigned i = 0; i < Dwords; i++) begin
      if (dword_valid_i[i] & open_d) begin
        crc_d               = pcie_pkg::lcrc_dword(crc_d, dword_i[32*i +: 32]);
        valid[i]            = held_valid_d;
        data[32*i +: 32]    = held_d;
        if (end_i[i]) begin
          seq_out      = seq_d;
          sound        = held_valid_d & (crc_d == pcie_pkg::LcrcSound) & !edb_i[i];
          nullified    = (crc_d == pcie_pkg::LcrcNullified) & (edb_i[i] | gen3_i);
          bad          = bad | !(sound | nullified);
          open_d       = 1'b0;
        end
        held_d       = dword_i[32*i +: 32];
        held_valid_d = 1'b1;
      end
      if (broken_i[i] & open_d) begin
        bad    = 1'b1;
        open_d = 1'b0;
      end
      if (begin_i[i]) begin
        open_d       = 1'b1;
        held_valid_d = 1'b0;
        seq_d        = seq_i[12*i +: 12];
        crc_d        = pcie_pkg::lcrc_seq(seq_i[12*i +: 12]);
      end
    end
    if (restart_i) open_d = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q        <= 1'b0;
      held_valid_q  <= 1'b0;
      held_q        <= '0;
      crc_q         <= '0;
      seq_q         <= '0;
      dword_valid_o <= '0;
      dword_o       <= '0;
      sound_o       <= 1'b0;
      nullified_o   <= 1'b0;
      bad_o         <= 1'b0;
      seq_o         <= '0;
    end else begin
      open_q        <= open_d;
      held_valid_q  <= held_valid_d;
      held_q        <= held_d;
      crc_q         <= crc_d;
      seq_q         <= seq_d;
      dword_valid_o <= valid & {Dwords{!restart_i}};
      dword_o       <= data;
      sound_o       <= sound & !restart_i;
      nullified_o   <= nullified & !restart_i;
      bad_o         <= bad | (restart_i & open_q);
      seq_o         <= seq_out;
    end
  end

endmodule
