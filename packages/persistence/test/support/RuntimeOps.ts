/**
 * Counts what the Effect runtime does: the operations it interprets and the fibers it starts. Unlike time, that is the same everywhere.
 */
import { Effect, RuntimeFlags, RuntimeFlagsPatch, Supervisor } from "effect"

export class RuntimeOps extends Supervisor.AbstractSupervisor<void> {
  readonly value = Effect.void
  ops = 0
  fibers = 0

  override onEffect(): void {
    this.ops++
  }

  override onStart(): void {
    this.fibers++
  }

  reset(): void {
    this.ops = 0
    this.fibers = 0
  }

  /** Runs `effect`, counting what its fiber and those it starts do. */
  count<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.withRuntimeFlagsPatch(
      Effect.supervised(effect, this),
      RuntimeFlagsPatch.enable(RuntimeFlags.OpSupervision)
    )
  }
}
