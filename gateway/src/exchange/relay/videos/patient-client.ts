/**
 * Stands for the client while a task is submitted. Whoever leaves meanwhile does not stop the submit: what an upstream
 * accepts is made, and has to be followed.
 */
export const patientClient = Object.freeze({
  disconnected: false,
  failedWith: null,
  fail: (): void => {},
  onDisconnect: (): void => {},
});
