/* What every Splitplane program shares with the engine: reserved ports and the annotations' meaning.
 *
 * Ports. egress_spec 511 drops (v1model), 510 punts to the control plane, 509 leaves the packet in the
 * idle-mode buffer. Of the others the number says what the parser may expect there:
 *     0-127    GTP-U is parsed: N3, N9, and one-armed ports
 *   128-255    plain IP only: N6. A UE's own traffic to UDP port 2152 is user data there, not our tunnel
 *   256-508    as the number less 256, and VXLAN is terminated first
 *       509    a packet of a service's own: the fields of an answer of that service, as a header, and a payload
 *
 * A packet that is left in the buffer with a drop reason waits for a rate: its mark is the cell of the program's shaped meter that was red; or, of a meter
 * with one cell, the queue in which it waits for its turn at that. When the cell lets it pass, or another one must be asked, it runs through the program again, and those meters that it has passed are green for it.
 *
 * Annotations (a compiler that does not know them ignores them, so the programs stay plain v1model):
 *   @drop_reason   metadata field of a serializable enum: why the packet was dropped or punted; of one that is sent, 1 to 7, the queue of the port
 *                  that it waits in where the port has a rate (0: as the port says)
 *   @mark          metadata field handed to the control plane beside a punted or buffered packet
 *   @pdu_length    metadata field: length that counters and meters with the same annotation take
 *   @likely, @unlikely  parser states: many packets are accepted from there, few go there. Targets may have faster
 *                  code for packets of likely ways
 *   @split("horizontal")  a target that holds a subset of this table's entries hands a miss to the next target
 */
#ifndef SPLITPLANE_P4
#define SPLITPLANE_P4

const bit<9> PUNT_PORT   = 510;
const bit<9> BUFFER_PORT = 509;
const bit<9> SERVICE_PORT = 509;
const bit<9> PLAIN_PORT_FLAG = 0x080;
const bit<9> VXLAN_PORT_FLAG = 0x100;

#endif
