/** JSON that is written unchanged, so that its numbers keep all digits. */
export class Verbatim {
  readonly json: string;
  constructor(json: string) {
    this.json = json;
  }
}
