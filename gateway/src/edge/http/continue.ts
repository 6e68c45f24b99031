import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * Holds back the `100 Continue` that Node would send at once. A client that asks first learns that its key or path is
 * wrong before it sends a body.
 */
export function holdBackContinue(server: Server): void {
  server.on('checkContinue', (request, response) => {
    waiting.set(request, response);
    server.emit('request', request, response);
  });
  // Ignores any other expectation, as RFC 9110 allows, instead of refusing it without a request id.
  server.on('checkExpectation', (request, response) => {
    server.emit('request', request, response);
  });
}

/** Invites the body of a client that asked first. */
export function inviteBody(request: IncomingMessage): void {
  const response = waiting.get(request);
  if (response === undefined) return;
  waiting.delete(request);
  response.writeContinue();
}

/** Whether the client asked first and was not invited: it may or may not send its body now. */
export function isAwaitingInvitation(request: IncomingMessage): boolean {
  return waiting.has(request);
}
