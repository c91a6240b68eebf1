/**
 * What wakes one sleeping fiber. A Latch for a single listener at a quarter of its price, because a checkpoint rings one every time.
 */
import * as Effect from "effect/Effect"

export class Bell {
  private rung = false
  private wake: (() => void) | undefined

  /** Waits until the bell rings; not at all when it has rung since it was last silenced. For one fiber at a time. */
  // No canceller: waking a fiber that was interrupted does nothing.
  readonly heard: Effect.Effect<void> = Effect.async<void>((resume) => {
    if (this.rung) resume(Effect.void)
    else this.wake = () => resume(Effect.void)
  })

  ring(): void {
    if (this.rung) return
    this.rung = true
    this.wake?.()
    this.wake = undefined
  }

  silence(): void {
    this.rung = false
  }
}
