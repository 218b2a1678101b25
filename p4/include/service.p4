/* Services: what P4 cannot do. To keep packets, to run timers, to cipher, to put back into order.
 *
 * A program makes an instance in ingress or egress and calls it there, outside of loops and of actions that tables run:
 *
 *     struct request_t { bit<32> bearer; bit<32> count; }
 *     struct answer_t  { bit<8> result; }
 *     Service<request_t, answer_t>("ciphering") cipher;
 *     apply { cipher.call({ meta.bearer, meta.count }, meta.answer); }
 *
 * Request and answer are structs of fields of a fixed width, of at most 32 bytes each. The service sees the request and the payload: what the
 * parser has not extracted. What it must know of the headers goes into the request.
 *
 * call  the packet waits for the answer. The service may change the payload, and its length. It may also drop the packet, with a reason.
 * send  the service gets a copy of the packet, and the packet goes on at once. Nothing comes back.
 *
 * A service may send packets of its own: one that it has kept a copy of, or a part of one. They come in by port 509 (splitplane.p4), and begin with an answer's fields.
 */
#ifndef SERVICE_P4
#define SERVICE_P4

extern Service<Q, A> {
    Service(string name);
    void call(in Q request, out A answer);
    void send(in Q request);
}

#endif
