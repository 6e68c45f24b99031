/** JSON that is written as it is, so that its numbers keep all their digits. */
export class Verbatim {
  readonly json: string;
  constructor(json: string) {
    this.json = json;
  }
}
