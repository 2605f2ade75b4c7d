/*
 * cxx_timers.cpp - from C++: a timer that calls a lambda.
 *
 * The service is held by a unique_ptr.  A lambda lives on the heap as long as
 * its timer does: the callback takes it back, or if that never runs, the drop
 * function does.
 */
#include <tickwheel/service.h>

#include <condition_variable>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace
{

using Action = std::function<void()>;

extern "C" void call_action(void *argument, const tkw_firing *)
{
    std::unique_ptr<Action> action(static_cast<Action *>(argument));
    (*action)();
}

extern "C" void drop_action(void *argument)
{
    delete static_cast<Action *>(argument);
}

class Timers
{
  public:
    Timers()
    {
        tkw_service *service;
        if (tkw_service_open(&service, nullptr) != 0)
            throw std::runtime_error("no timers");
        service_.reset(service);
    }

    tkw_handle after(uint64_t delay_ns, Action action)
    {
        auto held = std::make_unique<Action>(std::move(action));
        tkw_task task = {call_action, held.get(), drop_action};
        tkw_handle handle;
        if (tkw_service_arm(service_.get(), &handle, delay_ns, task) != 0)
            throw std::bad_alloc();
        held.release(); /* now it is the timer's */
        return handle;
    }

    bool cancel(tkw_handle handle)
    {
        return tkw_service_cancel(service_.get(), handle) == 1;
    }

  private:
    struct Close {
        void operator()(tkw_service *service) const
        {
            tkw_service_close(service, nullptr, nullptr);
        }
    };
    std::unique_ptr<tkw_service, Close> service_;
};

} // namespace

int main()
{
    std::mutex mutex;
    std::condition_variable rung;
    bool is_ready = false;

    Timers timers;
    timers.after(50 * TKW_MILLISECOND, [&] {
        std::lock_guard<std::mutex> guard(mutex);
        is_ready = true;
        rung.notify_one();
    });
    tkw_handle tea = timers.after(180 * TKW_SECOND, [] {});
    if (timers.cancel(tea))
        std::puts("no tea then");

    std::unique_lock<std::mutex> lock(mutex);
    rung.wait(lock, [&] { return is_ready; });
    std::puts("the egg is ready");
    return 0;
}
