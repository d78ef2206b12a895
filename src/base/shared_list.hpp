// A list that is a value and costs nothing to copy: copies have one storage until one of them is changed. For
// lists that are made once and then stand in many values, as what the host has does in the facts of each
// call.
//
// Threads may hold copies of one list, as of any value; one list by itself is no more theirs to change than a
// vector is.
#pragma once

#include <atomic>
#include <initializer_list>
#include <utility>
#include <vector>

namespace cloche {

template <typename T>
class SharedList {
 public:
  using value_type = T;

  SharedList() = default;
  SharedList(std::initializer_list<T> items) : SharedList(std::vector<T>(items)) {}
  SharedList(std::vector<T> items) : storage_(items.empty() ? nullptr : new Storage{std::move(items)}) {}
  SharedList(const SharedList& other) : storage_(other.storage_) {
    if (storage_ != nullptr) storage_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  SharedList(SharedList&& other) noexcept : storage_(std::exchange(other.storage_, nullptr)) {}
  SharedList& operator=(SharedList other) noexcept {
    std::swap(storage_, other.storage_);
    return *this;
  }
  ~SharedList() {
    if (storage_ != nullptr && storage_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete storage_;
  }

  size_t size() const { return storage_ == nullptr ? 0 : storage_->items.size(); }
  bool empty() const { return size() == 0; }
  const T* begin() const { return storage_ == nullptr ? nullptr : storage_->items.data(); }
  const T* end() const { return begin() + size(); }
  const T* data() const { return begin(); }
  const T& operator[](size_t at) const { return storage_->items[at]; }
  const T& back() const { return storage_->items.back(); }

  bool operator==(const SharedList& other) const {
    if (storage_ == other.storage_) return true;
    return size() == other.size() && (empty() || storage_->items == other.storage_->items);
  }

  // Its items to change: this list's own from here on.
  std::vector<T>& edit() {
    if (storage_ == nullptr) {
      storage_ = new Storage{};
    } else if (storage_->holders.load(std::memory_order_acquire) != 1) {
      *this = SharedList(storage_->items);
    }
    return storage_->items;
  }
  T* begin() { return edit().data(); }
  T* end() { return begin() + size(); }
  T& operator[](size_t at) { return edit()[at]; }
  T& back() { return edit().back(); }
  void push_back(T item) { edit().push_back(std::move(item)); }
  void append(const std::vector<T>& more) { edit().insert(edit().end(), more.begin(), more.end()); }
  void clear() { *this = SharedList(); }

 private:
  struct Storage {
    std::vector<T> items = {};
    std::atomic<size_t> holders{1};
  };

  Storage* storage_ = nullptr;
};

}  // namespace cloche
