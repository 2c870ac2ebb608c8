/** Those who are told of something. One that throws is reported and keeps nobody from hearing. */
export class Listeners<T> {
  readonly #all = new Set<(value: T) => void>();
  constructor(private readonly report: (message: string) => void) {}

  add(listener: (value: T) => void): { dispose(): void } {
    this.#all.add(listener);
    return { dispose: () => void this.#all.delete(listener) };
  }

  tell(value: T): void {
    for (const listener of [...this.#all]) {
      try {
        listener(value);
      } catch (error) {
        this.report(`a listener failed: ${(error as Error).stack}`);
      }
    }
  }
}
