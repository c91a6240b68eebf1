/**
 * `Budgets` in memory: one for an agent and all that work for it, and for whom those work.
 *
 * Merged in at the root. The limits given to the Layer hold for every agent that works for nobody, each with a budget of its own.
 */
import type { PriceTable } from "@dsh/protocol/Prices"
import type { CancelCause } from "@dsh/protocol/SessionEvent"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type { Agent } from "./Agent.ts"
import { AgentError } from "./AgentError.ts"
import { AgentCreated, AgentDisposed, AgentRequest, PreStep } from "./AgentHooks.ts"
import { Budgets, ModelPrices } from "./Budgets.ts"
import type { Limits } from "./Budgets.ts"
import { Member } from "./BudgetsPerTree/Member.ts"
import { Tree } from "./BudgetsPerTree/Tree.ts"

/** Before anything else spends time on a request that there will not be. */
const first = { order: -1000 }
const noPrices: PriceTable = new Map()

type Hooks = AgentCreated | AgentDisposed | AgentRequest | PreStep

/** Fails with `INVALID_OPTIONS`, see `Budgets.give`. */
export const layer = (standing: Limits = {}): Layer.Layer<Budgets, AgentError, Hooks> =>
  Layer.scoped(Budgets, make(standing))

export const make = Effect.fnUntraced(function* (standing: Limits) {
  yield* valid(standing)
  const prices = Option.getOrElse(yield* Effect.serviceOption(ModelPrices), () => noPrices)
  const scope = yield* Effect.scope
  const members = new Map<Agent, Member>()
  const inTree = (tree: Tree) => [...members.values()].filter((member) => member.tree === tree)

  const join = Effect.fnUntraced(function* (agent: Agent) {
    const known = members.get(agent)
    if (known !== undefined) return known
    const member = new Member(agent, yield* Scope.fork(scope, ExecutionStrategy.sequential))
    members.set(agent, member)
    yield* Scope.extend(
      agent.session.observe((entry) => member.take(entry)),
      member.scope
    )
    const { origin, parentSession } = agent.session.header
    const parent = origin === "subagent" && [...members.keys()].find(({ id }) => id === parentSession)
    if (parent) member.tree = members.get(parent)?.tree
    else if (Object.values(standing).some((limit) => limit !== undefined)) yield* plant(member, standing)
    return member
  })

  const plant = Effect.fnUntraced(function* (member: Member, limits: Limits) {
    const before = member.tree
    const tree = new Tree(limits, prices, yield* Clock.currentTimeMillis)
    for (const one of before === undefined ? [member] : below(member, inTree(before))) one.tree = tree
    if (before !== undefined) yield* fell(before)
    if (limits.timeMs !== undefined) {
      tree.clock = yield* Effect.forkIn(Effect.delay(end(tree), limits.timeMs), scope)
    }
  })

  /** A budget that nobody shares any more needs no clock. */
  const fell = (tree: Tree) =>
    tree.clock === undefined || inTree(tree).length > 0 ? Effect.void : Effect.asVoid(Fiber.interruptFork(tree.clock))

  /** Those that were called last go first: then each is told the reason, not that its caller was ended. */
  const end = (tree: Tree) =>
    Effect.suspend(() => {
      const { timeMs: limit = 0 } = tree.limits
      return Effect.forEach(
        inTree(tree).toReversed(),
        ({ agent }) => agent.cancel({ kind: "budget", of: "time", limit }),
        { discard: true }
      )
    })

  const leave = (agent: Agent) =>
    Effect.suspend(() => {
      const member = members.get(agent)
      members.delete(agent)
      if (member === undefined) return Effect.void
      const { scope, tree } = member
      tree?.entering.delete(agent)
      return Effect.zipRight(Scope.close(scope, Exit.void), tree === undefined ? Effect.void : fell(tree))
    })

  yield* (yield* AgentCreated).use("budgets", (agent) => Effect.asVoid(join(agent)), first)
  yield* (yield* AgentDisposed).use("budgets", leave)
  yield* (yield* PreStep).use(
    "budgets",
    (input, next) =>
      Effect.clockWith((clock) => {
        const tree = members.get(input.agent)?.tree
        if (tree === undefined || !input.due) return next(input)
        const cause = tree.overrunBy(input.agent, clock.unsafeCurrentTimeMillis())
        if (cause !== undefined) return stop(input.agent, cause)
        tree.entering.add(input.agent)
        return next(input)
      }),
    first
  )
  yield* (yield* AgentRequest).use(
    "budgets",
    (input, next) =>
      Effect.gen(function* () {
        const config = yield* next(input)
        const tree = members.get(input.agent)?.tree
        if (tree === undefined) return config
        const now = yield* Clock.currentTimeMillis
        const cause = tree.overrun(now) ?? tree.unpriced(config.provider, config.model, now)
        return cause === undefined ? config : yield* stop(input.agent, cause)
      }),
    first
  )

  return Budgets.of({
    give: (agent, limits) =>
      Effect.zipRight(
        valid(limits),
        Effect.flatMap(join(agent), (member) => plant(member, limits))
      ),
    of: (agent) => {
      const tree = members.get(agent)?.tree
      return tree && { limits: tree.limits, spent: Effect.map(Clock.currentTimeMillis, (now) => tree.spent(now)) }
    }
  })
})

/** The cancel interrupts this very turn. */
const stop = (agent: Agent, cause: CancelCause) => Effect.zipRight(agent.cancel(cause), Effect.never)

/** `root` and those that work for it. */
const below = (root: Member, all: ReadonlyArray<Member>): ReadonlyArray<Member> => {
  const found = new Set([root])
  // Whoever was called is there after its caller.
  for (const member of all) {
    const { parentSession } = member.agent.session.header
    if ([...found].some(({ agent }) => agent.id === parentSession)) found.add(member)
  }
  return [...found]
}

const valid = (limits: Limits) =>
  Effect.suspend(() => {
    const wrong = mistake(limits)
    return wrong === undefined ? Effect.void : new AgentError({ code: "INVALID_OPTIONS", message: wrong })
  })

const mistake = ({ cost, ...counts }: Limits): string | undefined => {
  for (const [of, limit] of Object.entries(counts)) {
    if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0)) {
      return `the budget of ${of} is ${limit}; use a whole number above 0`
    }
  }
  return cost === undefined || (Number.isFinite(cost.amount) && cost.amount > 0)
    ? undefined
    : `the budget of cost is ${cost.amount} ${cost.currency}; use a number above 0`
}
