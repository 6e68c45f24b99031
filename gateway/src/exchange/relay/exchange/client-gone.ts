/** The client left before anything was done that it would have to pay for. */
export class ClientGone extends Error {}
