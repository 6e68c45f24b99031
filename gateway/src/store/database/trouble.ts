/** Something that fails again and again until it works. */
export interface Trouble {
  /** It failed. */
  met(message: string): void;
  /** It worked. */
  over(): void;
  /** Whether it failed the last time. */
  readonly isOn: boolean;
}

/** Tells when trouble begins and when it is over, however often it is met in between. */
export function createTrouble(
  onBegin: (message: string) => void,
  onEnd: () => void = () => {},
): Trouble {
  let isOn = false;
  return {
    met(message) {
      if (!isOn) onBegin(message);
      isOn = true;
    },
    over() {
      if (isOn) onEnd();
      isOn = false;
    },
    get isOn() {
      return isOn;
    },
  };
}
